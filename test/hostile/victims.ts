import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Stage } from '../lab/hunt/stage.ts'
import { slowness } from '../slowness.ts'
import type { Door } from './attacks.ts'
import { type AttackName, type VisitName, attacks } from './besieged.ts'
import { type Figure, type Scene, mebibyte } from './scene.ts'

const count = 3
/** Rounds beside each gateway, and ms of one. Other work of the machine spoils some of them, so that their median counts. */
const [rounds, roundMs, warmMs] = [5, 500, 500]
/** Times that a victim waits as long as alone, at most. */
const times = 3
/** Ms of a wait that nobody judges: a collection of the gateway's heap stops each of its turns for up to 5 ms. */
const least = 10
/** The same for chunks of one byte: the system's parser takes up to 10 ms for one read of each attacker, in one piece. */
const leastOfChunks = 40

const at = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Infinity
}

const threadOf = (name: 'attackers' | 'victim', workerData: object): Worker =>
  new Worker(new URL(import.meta.url.replace(/victims\.([jt]s)$/, `${name}.$1`)), { workerData })

const told = async (thread: Worker, word: unknown): Promise<unknown> => {
  thread.postMessage(word)
  return (await once(thread, 'message'))[0]
}

/**
 * The p99 of a victim while attackers send to each of two gateways of this machine in turn: to its own, and to the twin.
 * The cores are as busy beside the twin, so that they are no part of the difference.
 */
const beside = (attack: AttackName, visit: VisitName): Scene => ({
  name: `${attack}, ${count} at once beside a ${visit}`,
  short: true,
  // Bodies that ended are still in memory until the next collection.
  memory: Math.max(192 * mebibyte, 4 * count * attacks[attack].bytes),
  async play(stage: Stage, twin) {
    const before = slowness()
    const door: Door = { base: stage.base, key: await stage.keyOf('quiet') }
    const victim = threadOf('victim', { door, visit })
    const doors = [stage, await twin()].map(({ base, key }): Door => ({ base, key }))
    const attackers = doors.map((door) => threadOf('attackers', { door, attack, count }))
    await told(victim, warmMs)
    const seen: readonly [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++)
      for (const [side, thread] of attackers.entries()) {
        await told(thread, true)
        seen[side]?.push(at((await told(victim, roundMs)) as number[], 0.99))
        await told(thread, false)
      }
    await Promise.all([victim, ...attackers].map((thread) => thread.terminate()))
    const [besieged, alone] = seen.map((p99s) => at(p99s, 0.5))
    const figure: Figure = {
      name: `ms that a victim waits, p99 (${alone?.toFixed(1)} beside the twin)`,
      value: besieged ?? Infinity,
      // Beside work of others, p99s of so few visits scatter by as much as the machine is slow.
      most:
        Math.max(attack.includes('chunks') ? leastOfChunks : least, times * (alone ?? 0)) *
        Math.max(before, slowness()),
    }
    return { sent: 0, figures: [figure] }
  },
})

/** A chat, and a sealed call, of somebody else while three attackers send the same again and again. */
export const victims: readonly Scene[] = (Object.keys(attacks) as AttackName[]).map((attack) =>
  beside(attack, attack.startsWith('a sealed') ? 'sealed call' : 'chat'),
)
