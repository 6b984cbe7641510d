import { Worker } from 'node:worker_threads'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Embed } from './similarity.ts'

/** What the thread sends back: the vectors one behind the other. */
type Embedded = { readonly vectors: Float32Array } | { readonly fault: unknown }

interface Job {
  readonly texts: readonly string[]
  settle(embedded: Embedded): void
}

export interface Thread {
  readonly embed: Embed
  dispose(): Promise<void>
}

/** Texts that may wait: more would all be late. */
const mostWaiting = 2048

/**
 * An embedding in a thread of its own, so that its arithmetic holds up nobody. It starts with the first text, works on one
 * batch at a time, starts anew after a crash and keeps no process alive that has nothing else to do. `code` is CommonJS that
 * answers each `{ texts }` with vectors or a fault; `workerData` in it is `from`, the file that its packages are near.
 */
export const embedIn = (code: string, from: string): Thread => {
  const waiting: Job[] = []
  let worker: Worker | null = null
  let running: Job | null = null
  let over = false

  const start = (): Worker => {
    const fresh = new Worker(code, { eval: true, execArgv: [], workerData: from })
    const done = (embedded: Embedded) => {
      if (worker !== fresh) return
      running?.settle(embedded)
      running = null
      next()
    }
    const lost = (fault: unknown) => {
      if (worker !== fresh) return
      worker = null
      running?.settle({ fault })
      running = null
      next()
    }
    fresh.on('message', done)
    fresh.on('messageerror', lost)
    fresh.on('error', lost)
    fresh.on('exit', (code) => lost(new Error('The thread ended', { cause: code })))
    return fresh
  }

  const next = (): void => {
    const job = running ? undefined : waiting.shift()
    if (!job) {
      if (!running) worker?.unref()
      return
    }
    running = job
    worker ??= start()
    worker.ref()
    worker.postMessage({ texts: job.texts })
  }

  const embed: Embed = (texts, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      if (over) throw new UpstreamFailed('The embedding is closed')
      if (texts.length + waiting.reduce((sum, { texts }) => sum + texts.length, 0) > mostWaiting) {
        throw new UpstreamFailed('Too many texts wait for the embedding', { again: true, retryAfter: 1000 })
      }
      // The thread skips callers that left; a running batch finishes unused.
      const leave = () => {
        const at = waiting.indexOf(job)
        if (at >= 0) waiting.splice(at, 1)
        reject(signal.reason)
      }
      const job: Job = {
        texts,
        settle(embedded) {
          signal.removeEventListener('abort', leave)
          if ('fault' in embedded) {
            reject(new UpstreamFailed('The embedding failed', { again: true, cause: embedded.fault }))
          } else {
            const size = embedded.vectors.length / texts.length
            resolve(texts.map((_, at) => embedded.vectors.subarray(at * size, (at + 1) * size)))
          }
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      waiting.push(job)
      next()
    })

  return {
    embed,
    async dispose() {
      over = true
      const fault = new Error('The embedding is closed')
      const left = worker
      worker = null
      for (const job of [...(running ? [running] : []), ...waiting.splice(0)]) job.settle({ fault })
      running = null
      await left?.terminate()
    },
  }
}
