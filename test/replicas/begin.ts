import type { Begin } from './operations.ts'
import { type Body, bodyOf, chargeOf } from './bodies.ts'
import type { Flight } from './provider.ts'
import { opening } from './provider.ts'
import {
  Broken,
  Disturbed,
  type Key,
  type Open,
  type Scene,
  boundsOf,
  concurrencyOf,
  known,
  must,
  mustUnlessDisturbed,
  names,
  note,
  quiet,
} from './scene.ts'
import { ask, within } from './ask.ts'
import type { Sent } from './send.ts'
import { crowd, deciding } from './stage.ts'

/** A limit as it stands when calls are sent: how many of them surely find room, and how many at best. */
interface Room {
  readonly name: string
  readonly least: number
  readonly most: number
}

/** In the order in which they are looked at: what a refusal says, and the limits that say so. */
interface Gate {
  readonly says: string
  rooms(from: number, to: number): readonly Room[]
}

type Outcome = Open | { readonly status: number; readonly said: string }

/** Sends calls through one replica after another, all at once, and holds what comes of it against what may. */
export const begin = async (scene: Scene, { which, kind: wished, count, replica, calm, size, most }: Begin) => {
  const key = scene.keys[which % scene.keys.length]!
  const { stage, lane } = scene
  const kind = wished === 'decision' && key.tokens.length > 0 ? 'chat' : wished
  if (calm) await quiet(scene)
  const sure = scene.calm
  const bodies = Array.from({ length: count }, () => {
    const mark = `${scene.organization}.${++lane.marks}`
    return { mark, body: bodyOf({ kind, mark, size, most }, stage.sealing) }
  })
  const gates = gatesOf(scene, key, kind, bodies[0]!.body)
  const from = Date.now()
  const outcomes = await Promise.all(
    bodies.map(({ mark, body }, at) => {
      const flight = stage.provider.expect(mark, boundsOf(scene, key, kind))
      const sent = ask(scene, replica + at, { path: body.path, key: key.credential, body: body.json })
      return outcomeOf({ key, kind, body, flight, sent, head: sent.head, left: [] })
    }),
  )
  const to = Date.now()
  scene.calm = false

  const served = outcomes.filter((outcome): outcome is Open => 'flight' in outcome)
  const refused = outcomes.filter((outcome) => 'said' in outcome)
  scene.open.push(...served)
  note(scene, kind, count)
  if (refused.some(({ status }) => status === 503)) throw new Disturbed()
  for (const [at, outcome] of outcomes.entries()) {
    const gone = key.revoked
    if ('said' in outcome && outcome.status === 401) must(gone !== null, () => `a key of another replica is not known`)
    else if (gone !== null) {
      const late = from - gone.at
      must(
        late <= known && (replica + at) % 3 !== gone.replica,
        () => `a key is let in ${late} ms after its revocation`,
      )
      lane.figures.outlived = Math.max(lane.figures.outlived, late)
    }
  }

  let reaching = count - refused.filter(({ status }) => status === 401).length
  for (const { says, rooms } of gates) {
    const here = refused.filter(({ said: text, status }) => status === 429 && text.includes(says)).length
    const limits = rooms(from, to)
    const passed = reaching - here
    // What a stream without a place gave back may have let in another.
    const kept = says === spent ? passed - refused.filter(({ said: text }) => text.includes(streaming)).length : passed
    for (const { name, most } of limits)
      must(kept <= most || says === crowded, () => `${kept} of ${reaching} pass ${name}, which had room for ${most}`)
    const narrow = limits.filter(({ least }) => least < reaching)
    if (sure && here > 0) {
      const why = narrow.length === 0 || (narrow.length === 1 && narrow[0]!.least > passed)
      mustUnlessDisturbed(!why, () => `${here} of ${reaching} are refused with "${says}": ${JSON.stringify(limits)}`)
      lane.figures.refused[says] = (lane.figures.refused[says] ?? 0) + here
    }
    take(key, says, passed, bodies[0]!.body, from, to)
    reaching = passed
  }
  must(
    reaching === served.length,
    () => `${reaching} should be served, ${served.length} are: ${JSON.stringify(refused)}`,
  )
  if (sure && count === 1 && served.length === 1) {
    const left = key.tokens.map((token) => {
      const { low, high } = token.span()
      return { most: token.most, low: low - ((to - from + 2) * token.most) / token.per, high }
    })
    scene.open.splice(-1, 1, { ...served[0]!, left })
  }
  const unstreamed = refused.filter(({ said: text }) => text.includes(streaming)).length
  key.tally.requests += unstreamed
  key.tally.unanswered += unstreamed
  for (const token of key.tokens) token.owed(unstreamed * chargeOf(bodies[0]!.body, token.most))
  if (kind === 'sealed' || kind === 'sealed stream') {
    scene.sealed.push(...served.map(({ body }) => ({ key, body: body.json })))
    scene.sealed.splice(0, scene.sealed.length - 4)
  }
}

const hurried = 'Too many requests'
const crowded = 'Too many concurrent requests'
const spent = 'Allowance used up'
const streaming = 'An active chat stream'

const gatesOf = (scene: Scene, key: Key, kind: Open['kind'], body: Body): readonly Gate[] => {
  const { provider } = scene.stage
  const place = (name: string, least: number, most = least): Room => {
    const held = provider.held(name)
    return { name, least: Math.max(0, least - held), most: Math.max(0, most - held) }
  }
  const { least, most } = key.concurrent === null ? { least: Infinity, most: Infinity } : concurrencyOf(key)
  const places = [
    place(names.key(key), least, most),
    place(names.organization(scene), crowd),
    ...(kind === 'decision' ? [place(names.decision(key), deciding)] : []),
  ]
  const streams = kind === 'sealed stream' ? [place(names.stream(key), 1)] : []
  const of = (bucket: Key['tokens'][number], amount: number, from: number, to: number) => ({
    name: bucket.name,
    ...bucket.fits(amount, from, to),
  })
  return [
    { says: hurried, rooms: (from, to) => (key.requests ? [of(key.requests, 1, from, to)] : []) },
    { says: crowded, rooms: () => places },
    { says: spent, rooms: (from, to) => key.tokens.map((token) => of(token, chargeOf(body, token.most), from, to)) },
    { says: streaming, rooms: () => streams },
  ]
}

const take = (key: Key, says: string, passed: number, body: Body, from: number, to: number): void => {
  if (says === hurried) key.requests?.taken(passed, from, to)
  if (says === spent) for (const token of key.tokens) token.taken(passed * chargeOf(body, token.most), from, to)
}

/** Open once the provider has it and a stream has begun; else what was said. */
const outcomeOf = async (call: Open): Promise<Outcome> => {
  const { flight, sent, kind } = call
  const first = await within(Promise.race([come(flight), sent.head]), 'nothing comes of a call')
  if (first !== null && first.status !== 200) return refusal(flight, first.status, sent)
  await within(flight.arrived, 'a call does not come in')
  if (kind === 'stream' || kind === 'sealed stream') {
    await within(sent.heard(kind === 'stream' ? `"${opening}"` : 'event: data'), 'a stream does not begin')
    const { status } = await sent.head
    if (status !== 200) return refusal(flight, status, sent)
  }
  return call
}

const come = (flight: Flight) => flight.arrived.then(() => null)

const refusal = async (flight: Flight, status: number, sent: Sent): Promise<Outcome> => {
  flight.leave('refused')
  const text = await sent.whole
  if (status !== 401 && status !== 429 && status !== 503) throw new Broken(`a call is answered with ${status}: ${text}`)
  return { status, said: text }
}
