import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { Unconfigured, Unreadable } from '../errors.ts'
import type { Given, Told } from './thread.ts'

export interface Bounds {
  /** Megabytes of heap. */
  readonly memory?: number
  /** Ms by the wall. */
  readonly time?: number
}

const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const thread = new URL(`./thread${ending}`, import.meta.url)

// As many at once as there are cores, whoever asks: a parser is never short of work.
const turn = pLimit(availableParallelism())

/**
 * Does a job of `jobs/` in a thread of its own: whatever a file makes a parser do, it ends with that thread. Throws
 * Unreadable for everything that goes wrong with the file, and Unconfigured when the engine is not installed.
 */
export const apart = <O>(job: string, input: unknown, signal: AbortSignal, bounds: Bounds = {}): Promise<O> => {
  const { memory = 512, time = 60_000 } = bounds
  return turn(() => {
    const late = AbortSignal.timeout(time)
    return work<O>({ job, input }, memory, AbortSignal.any([signal, late]), late)
  })
}

const work = <O>(given: Given, memory: number, stop: AbortSignal, late: AbortSignal): Promise<O> =>
  new Promise((resolve, reject) => {
    stop.throwIfAborted()
    // What a parser prints quotes what it reads, so nobody sees it.
    const worker = new Worker(thread, {
      workerData: given,
      resourceLimits: { maxOldGenerationSizeMb: memory },
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
    })
    worker.stdout.resume()
    worker.stderr.resume()
    const end = (finish: () => void) => {
      stop.removeEventListener('abort', leave)
      finish()
      void worker.terminate()
    }
    const leave = () => end(() => reject(late.aborted ? new Unreadable() : stop.reason))
    stop.addEventListener('abort', leave, { once: true })
    worker.once('message', (told: Told) =>
      end(() => {
        if (told.kind === 'done') resolve(told.output as O)
        else if (told.kind === 'unreadable') reject(new Unreadable({ flaw: told.flaw }))
        else reject(new Unconfigured({ validator: { [told.engine]: 'Expected to be installed' } }))
      }),
    )
    worker.once('error', () => end(() => reject(new Unreadable())))
    worker.once('exit', () => end(() => reject(new Unreadable())))
  })
