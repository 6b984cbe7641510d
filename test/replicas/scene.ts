import { setTimeout as sleep } from 'node:timers/promises'
import type { Body, Kind } from './bodies.ts'
import { type Bucket, bucket } from './bucket.ts'
import type { Bound, Flight } from './provider.ts'
import type { Head, Sent } from './send.ts'
import { type Stage, crowd, deciding } from './stage.ts'

/** Ms within which every replica knows that a key was changed or revoked. */
export const known = 5_000

/** A sentence that does not hold. One about what was not given may be due to a Redis that was too slow. */
export class Broken extends Error {
  readonly excusable: boolean
  constructor(message: string, excusable = false) {
    super(message)
    this.excusable = excusable
  }
}

/** A replica found Redis too slow, and said so. */
export class Disturbed extends Error {}

export const must = (holds: boolean, message: () => string): void => {
  if (!holds) throw new Broken(message())
}
export const mustUnlessDisturbed = (holds: boolean, message: () => string): void => {
  if (!holds) throw new Broken(message(), true)
}

/** What was used, as the rows of `/admin/usage` have to say in the end. */
export interface Tally {
  requests: number
  input: number
  output: number
  estimated: number
  unanswered: number
}

export interface Key {
  readonly id: string
  readonly credential: string
  readonly limits: Limits
  /** How many at once, and what that was until every replica knew; null for any number. */
  readonly concurrent: { now: number; readonly before: { readonly most: number; readonly until: number }[] } | null
  readonly requests: Bucket | null
  readonly tokens: readonly Bucket[]
  readonly tally: Tally
  revoked: { readonly at: number; readonly replica: number } | null
}

/** A call that the provider holds. */
export interface Open {
  readonly key: Key
  readonly kind: Kind
  readonly body: Body
  readonly flight: Flight
  readonly sent: Sent
  readonly head: Promise<Head>
  /** What was left of its allowances then, where that is known. */
  readonly left: readonly { readonly most: number; readonly low: number; readonly high: number }[]
}

/** What one sequence of operations works with: an organisation of its own, with keys that begin with it. */
export interface Scene {
  readonly stage: Stage
  readonly organization: string
  readonly boss: string
  readonly keys: Key[]
  readonly open: Open[]
  /** Sealed bodies that were served once, by who sent them. */
  readonly sealed: { readonly key: Key; readonly body: object }[]
  /** Of this lane, over all of its sequences. */
  readonly lane: Lane
  /** How often Redis had been too slow when it began. */
  readonly disturbances: number
  /** Whether nothing is being given back any more. */
  calm: boolean
}

export interface Lane {
  readonly name: string
  marks: number
  organizations: number
  /** Keys of sequences that are over. */
  readonly past: Key[]
  readonly over: { readonly boss: string; readonly keys: readonly Key[] }[]
  /** Names under which something may be lost until it falls free. */
  readonly spoilt: Set<string>
  readonly figures: Figures
}

export interface Figures {
  requests: number
  readonly operations: Record<string, number>
  readonly refused: Record<string, number>
  /** Ms, at most. */
  calm: number
  /** Ms after its revocation that a key was last let in. */
  outlived: number
  disturbed: number
}

export const note = ({ lane }: Scene, what: string, times = 1): void => {
  const { operations } = lane.figures
  operations[what] = (operations[what] ?? 0) + times
}

export const names = {
  key: ({ id }: Key) => `concurrent/key/${id}`,
  organization: ({ organization }: Scene) => `concurrent/organization/${organization}`,
  decision: ({ id }: Key) => `decision/key/${id}`,
  stream: ({ id }: Key) => `stream/key/${id}`,
} as const

/** Between which numbers the limit may stand for a call that is sent now. */
export const concurrencyOf = ({ concurrent }: Key, now = Date.now()) => {
  const all = [concurrent!.now, ...concurrent!.before.filter(({ until }) => now <= until).map(({ most }) => most)]
  return { least: Math.min(...all), most: Math.max(...all) }
}

/** What a call of that kind takes a place of. */
export const boundsOf = (scene: Scene, key: Key, kind: Kind): readonly Bound[] => [
  ...(key.concurrent === null ? [] : [{ name: names.key(key), most: mostNow(key) }]),
  { name: names.organization(scene), most: () => crowd },
  ...(kind === 'decision' ? [{ name: names.decision(key), most: () => deciding }] : []),
  ...(kind === 'sealed stream' ? [{ name: names.stream(key), most: () => 1 }] : []),
]

/** As of when it is sent: it may be on its way while the limit changes. */
const mostNow = (key: Key) => {
  const { most } = concurrencyOf(key)
  return () => Math.max(most, concurrencyOf(key).most)
}

export const made = (id: string, credential: string, limits: Limits): Key => {
  const { requestsPerSecond, concurrentRequests, tokensPerMinute, tokensPerDay } = limits
  const now = Date.now()
  return {
    id,
    credential,
    limits,
    concurrent: concurrentRequests === null ? null : { now: concurrentRequests, before: [] },
    requests: requestsPerSecond === null ? null : bucket(`requests/key/${id}`, requestsPerSecond, 1_000, now),
    tokens: [
      ...(tokensPerMinute === null ? [] : [bucket(`tokens/minute/key/${id}`, tokensPerMinute, 60_000, now)]),
      ...(tokensPerDay === null ? [] : [bucket(`tokens/day/key/${id}`, tokensPerDay, 86_400_000, now)]),
    ],
    tally: { requests: 0, input: 0, output: 0, estimated: 0, unanswered: 0 },
    revoked: null,
  }
}

export interface Limits {
  readonly requestsPerSecond: number | null
  readonly concurrentRequests: number | null
  readonly tokensPerMinute: number | null
  readonly tokensPerDay: number | null
}

/** Waits until Redis has exactly the places of what the provider holds, and of each allowance what is left by our own sums; they must be there within so many ms. */
export const quiet = async (scene: Scene, patience = 30_000): Promise<void> => {
  const { stage, keys, lane, calm } = scene
  if (calm || stage.apart) return
  const places = [
    names.organization(scene),
    ...keys.flatMap((key) => [...(key.concurrent ? [names.key(key)] : []), names.decision(key), names.stream(key)]),
  ]
  const began = performance.now()
  const rest = async () => {
    if (performance.now() - began < 1_000) return sleep(3)
    await sleep(300)
    if (stage.disturbances() > scene.disturbances) throw new Disturbed()
  }
  for (;;) {
    const taken = await stage.places(places)
    const wrong = places.filter((name, at) => taken[at] !== stage.provider.held(name))
    if (wrong.length === 0) break
    mustUnlessDisturbed(performance.now() - began < patience, () => {
      const texts = wrong.map((name) => `${name}: ${taken[places.indexOf(name)]} for ${stage.provider.held(name)}`)
      return `places are not given back: ${texts.join(', ')}`
    })
    await rest()
  }
  for (const bucket of keys.flatMap(({ tokens }) => tokens)) {
    for (;;) {
      const from = Date.now()
      const read = await stage.level(bucket.name)
      const to = Date.now()
      const level =
        read === null
          ? bucket.most
          : Math.min(bucket.most, read.left + (Math.max(0, to - read.at) * bucket.most) / bucket.per)
      if (bucket.agrees(level, from, to)) break
      mustUnlessDisturbed(performance.now() - began < patience, () => `an allowance holds ${level}: ${bucket.told()}`)
      await rest()
    }
  }
  lane.figures.calm = Math.max(lane.figures.calm, performance.now() - began)
  scene.calm = true
}
