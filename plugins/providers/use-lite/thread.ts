import { Worker } from 'node:worker_threads'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Embed } from '../shared/similarity.ts'

/** What the thread sends back: the vectors one behind the other. */
type Embedded = { readonly vectors: Float32Array } | { readonly fault: unknown }

interface Job {
  readonly texts: readonly string[]
  settle(embedded: Embedded): void
}

export interface Thread {
  readonly embed: Embed
  /** Texts that wait reject with UpstreamFailed. */
  dispose(): Promise<void>
}

/** Texts that may wait: more would all be late. */
const mostWaiting = 2048

/** The thread and the work that waits for it. */
interface Embedding {
  readonly code: string
  readonly from: string
  readonly waiting: Job[]
  worker: Worker | null
  running: Job | null
  over: boolean
}

/**
 * An embedding in a thread of its own, so that its arithmetic holds up nobody. It starts with the first text, works on one
 * batch at a time, starts anew after a crash and keeps no process alive that has nothing else to do. `code` is CommonJS that
 * answers each `{ texts }` with vectors or a fault; `workerData` in it is `from`, the file that its packages are near.
 */
export const embedIn = (code: string, from: string): Thread => {
  const embedding: Embedding = { code, from, waiting: [], worker: null, running: null, over: false }
  return {
    embed: (texts, signal) => embedded(embedding, texts, signal),
    async dispose() {
      embedding.over = true
      const fault = new Error('The embedding is closed')
      const { worker, running } = embedding
      embedding.worker = null
      for (const job of [...(running ? [running] : []), ...embedding.waiting.splice(0)]) job.settle({ fault })
      embedding.running = null
      await worker?.terminate()
    },
  }
}

/** A thread that ends fails its batch; the next text starts another thread. */
const start = (embedding: Embedding): Worker => {
  const fresh = new Worker(embedding.code, { eval: true, execArgv: [], workerData: embedding.from })
  const settle = (embedded: Embedded) => {
    embedding.running?.settle(embedded)
    embedding.running = null
    next(embedding)
  }
  const lost = (fault: unknown) => {
    if (embedding.worker !== fresh) return
    embedding.worker = null
    settle({ fault })
  }
  fresh.on('message', (embedded: Embedded) => {
    if (embedding.worker === fresh) settle(embedded)
  })
  fresh.on('messageerror', lost)
  fresh.on('error', lost)
  fresh.on('exit', (code) => lost(new Error('The thread ended', { cause: code })))
  return fresh
}

const next = (embedding: Embedding): void => {
  const job = embedding.running ? undefined : embedding.waiting.shift()
  if (!job) {
    if (!embedding.running) embedding.worker?.unref()
    return
  }
  embedding.running = job
  embedding.worker ??= start(embedding)
  embedding.worker.ref()
  embedding.worker.postMessage({ texts: job.texts })
}

/** An abort takes the texts out of the queue, and rejects with the signal's reason. */
const embedded = (
  embedding: Embedding,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> =>
  new Promise((resolve, reject) => {
    const { waiting } = embedding
    signal.throwIfAborted()
    if (embedding.over) throw new UpstreamFailed('The embedding is closed')
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
    next(embedding)
  })
