import { parentPort, workerData } from 'node:worker_threads'
import { coreless, corelessHere, spentBy } from '../lab/hunt/processes.ts'
import type { Door } from './attacks.ts'
import { type VisitName, visits } from './besieged.ts'

/** A thread with a victim, so that nobody else's work in this process delays what the victim sees. */
export interface VictimGiven {
  readonly door: Door
  readonly visit: VisitName
  /** The processes of which one answers a visit. */
  readonly answering: readonly number[]
  /** The process inside that answers it too; null where none does. */
  readonly inside: number | null
}
const { door, visit, answering, inside } = workerData as VictimGiven

const call = visits[visit](door)

/** Ms so far: of work in each process, and in which this thread or the backend had no core. */
const spent = () => ({
  answering: answering.map(spentBy),
  inside: inside === null ? 0 : spentBy(inside),
  coreless: corelessHere() + coreless(process.pid),
})

/**
 * Ms of work that went on since then where a visit waited. Of several processes the least, since one of them answers. While
 * the victim or the backend has no core, a gateway works for others and keeps nobody waiting.
 */
const workSince = (before: ReturnType<typeof spent>): number => {
  const now = spent()
  const least = Math.min(...now.answering.map((ms, at) => ms - (before.answering[at] ?? ms)))
  return Math.max(least, now.inside - before.inside) - (now.coreless - before.coreless)
}

/** Ms between two visits, and the fewest visits that a percentile needs. */
const [pause, fewest] = [2, 20]

/** Ms of one visit: by the clock, and of work that went on meanwhile, which work of others on the machine does not prolong. */
export interface Waited {
  readonly clock: number
  readonly work: number
}

parentPort!.on('message', async (ms: number) => {
  const waits: Waited[] = []
  for (const end = performance.now() + ms; performance.now() < end || waits.length < fewest;) {
    const before = spent()
    const began = performance.now()
    await call()
    const clock = performance.now() - began
    waits.push({ clock, work: Math.max(0, Math.min(clock, workSince(before))) })
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  parentPort!.postMessage(waits)
})
