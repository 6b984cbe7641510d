import { parentPort, workerData } from 'node:worker_threads'
import type { Door } from './attacks.ts'
import { type VisitName, visits } from './besieged.ts'

/** A thread with a victim, so that nobody else's work in this process delays what the victim sees. */
const { door, visit } = workerData as { readonly door: Door; readonly visit: VisitName }

const call = visits[visit](door)

/** Ms between two visits, and the fewest visits that a percentile needs. */
const [pause, fewest] = [2, 20]

// Gives back how many ms each visit waited.
parentPort!.on('message', async (ms: number) => {
  const waits: number[] = []
  for (const end = performance.now() + ms; performance.now() < end || waits.length < fewest;) {
    const began = performance.now()
    await call()
    waits.push(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  parentPort!.postMessage(waits)
})
