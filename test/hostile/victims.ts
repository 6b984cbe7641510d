import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { workersOf } from '../lab/hunt/processes.ts'
import type { Stage } from '../lab/hunt/stage.ts'
import type { Door } from './attacks.ts'
import { type AttackName, type VisitName, attacks } from './besieged.ts'
import { corePace } from '../slowness.ts'
import { type Figure, type Scene, mebibyte, passes } from './scene.ts'
import type { VictimGiven, Waited } from './victim.ts'

const count = 3
/** Ms of a round beside each gateway, and of visits before all rounds. */
const [roundMs, warmMs] = [500, 500]
/** Rounds that are played, and how many where a victim still seems to wait too long: other work of the machine spoils single ones. */
const [leastRounds, mostRounds] = [4, 16]
/** The share of rounds that must be within the bounds. What an attack costs is there in most of them. */
const unspoiled = 0.25
/** Times that a victim waits as long as alone, at most. */
const times = 3
/** Ms of a wait that nobody judges: a collection of the gateway's heap stops each of its turns for up to 5 ms, and a visit takes three. */
const least: Readonly<Record<keyof Waited, number>> = { clock: 10, work: 15 }

/** Times by which a core may be slower than usual: the ms of work that nobody judges are those of the usual one. */
const mostPace = 2.5

const at = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Infinity
}

const threadOf = (name: 'attackers' | 'victim', workerData: object): Worker =>
  new Worker(new URL(import.meta.url.replace(/victims\.([jt]s)$/, `${name}.$1`)), { workerData })

/** What a thread gives back for a word. */
const told = async (thread: Worker, word: unknown): Promise<unknown> => {
  thread.postMessage(word)
  return (await once(thread, 'message'))[0]
}

const victimOf = async (visit: VisitName, stage: Stage): Promise<VictimGiven> => {
  const { gateway, enclave } = stage.pids
  const workers = workersOf(gateway)
  return {
    door: { base: stage.base, key: await stage.keyOf('quiet') },
    visit,
    answering: workers.length === 0 ? [gateway] : workers,
    inside: visit === 'sealed call' ? enclave : null,
  }
}

/** The p99 of the visits of each round, beside the attacked gateway and beside the twin, and the pace of a core in it. */
interface Seen {
  readonly besieged: Waited[]
  readonly alone: Waited[]
  readonly paces: number[]
}

const p99Of = (waits: readonly Waited[]): Waited => ({
  clock: at(
    waits.map(({ clock }) => clock),
    0.99,
  ),
  work: at(
    waits.map(({ work }) => work),
    0.99,
  ),
})

/** Beside an attack, and beside the twin. */
const figureOf = (by: keyof Waited, { besieged, alone, paces }: Seen): Figure => {
  const usual = at(
    alone.map((wait) => wait[by]),
    0.5,
  )
  return {
    name: `ms by ${by} that a victim waits, p99 (${usual.toFixed(1)} beside the twin)`,
    value: at(
      besieged.map((wait) => wait[by]),
      unspoiled,
    ),
    most: Math.max(least[by] * Math.min(mostPace, at(paces, 0.5)), times * usual),
  }
}

/**
 * The p99 of a victim while attackers send to each of two gateways of this machine in turn: to its own, and to the twin.
 * The cores are as busy beside the twin, so that they are no part of the difference. On a quiet machine the clock counts,
 * too.
 */
const beside = (attack: AttackName, visit: VisitName): Scene => ({
  name: `${attack}, ${count} at once beside a ${visit}`,
  // Bodies that ended are in memory until the next collection, beside those under way.
  memory: 112 * mebibyte + count * attacks[attack].bytes,
  async play(stage: Stage, twin, quiet) {
    const victim = threadOf('victim', await victimOf(visit, stage))
    const [own, other] = [stage, await twin()].map(({ base, key }) =>
      threadOf('attackers', { door: { base, key } satisfies Door, attack, count }),
    ) as [Worker, Worker]
    await told(victim, warmMs)
    const seen: Seen = { besieged: [], alone: [], paces: [] }
    const figures = () => (['work', ...(quiet ? ['clock' as const] : [])] as const).map((by) => figureOf(by, seen))
    for (let round = 0; round < leastRounds || (round < mostRounds && !figures().every(passes)); round++) {
      seen.paces.push(corePace())
      for (const [attackers, waits] of [
        [own, seen.besieged],
        [other, seen.alone],
      ] as const) {
        await told(attackers, true)
        waits.push(p99Of((await told(victim, roundMs)) as readonly Waited[]))
        await told(attackers, false)
      }
    }
    await Promise.all([victim, own, other].map((thread) => thread.terminate()))
    return { sent: 0, figures: figures() }
  },
})

/** A chat, and a sealed call, of somebody else while three attackers send the same again and again. */
export const victims: readonly Scene[] = (Object.keys(attacks) as AttackName[]).map((attack) =>
  beside(attack, attack.startsWith('a sealed') ? 'sealed call' : 'chat'),
)
