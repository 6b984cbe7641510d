import { Worker } from 'node:worker_threads'
import { Unavailable } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Drill, type SceneResult } from '../../plugins/surfaces/admin/drill.ts'
import type { DrillOrder, DrillWord } from './drill-order.ts'
import { sceneList } from './scene-list.ts'

/** Ms after which a thread that still plays is ended. */
const longest = 120_000
/** Ms in which a thread ends itself. */
const longestEnd = 10_000
/** The memory of the thread, in MiB. */
const mostMemory = 256

const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const source = new URL(`./drill-thread${ending}`, import.meta.url)

/** What a thread has said, in its order. */
interface Listening {
  /** Null behind the last result. Rejects where the thread failed, and when the signal fires. */
  next(): Promise<SceneResult | null>
}

const listening = (thread: Worker, signal: AbortSignal): Listening => {
  const words: DrillWord[] = []
  let fault: unknown = null
  let wake = (): void => {}
  const failed = (cause: unknown): void => {
    fault ??= cause
    wake()
  }
  thread.on('message', (word: DrillWord) => {
    words.push(word)
    wake()
  })
  thread.on('error', (cause) => failed(new Unavailable(undefined, { cause })))
  thread.on('exit', () => failed(new Unavailable(undefined, { cause: new Error('The drill ended early') })))
  signal.addEventListener('abort', () => failed(signal.reason), { once: true })
  return {
    async next() {
      while (words.length === 0 && fault === null) await new Promise<void>((resolve) => (wake = resolve))
      const word = words.shift()
      if (word === undefined) throw fault
      return word
    },
  }
}

async function* played(order: DrillOrder, signal: AbortSignal): AsyncGenerator<SceneResult> {
  if (signal.aborted) return
  const thread = new Worker(source, {
    execArgv: [],
    env: {},
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: mostMemory },
  })
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Unavailable()), longest).unref()
  const { next } = listening(thread, AbortSignal.any([signal, late.signal]))
  try {
    for (let result = await next(); result !== null; result = await next()) yield result
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    clearTimeout(timer)
    await ended(thread)
  }
}

/**
 * A thread that is terminated while Node parses HTTP in it takes the whole process along. So the thread ends itself between
 * two turns of its loop, at any word.
 */
const ended = async (thread: Worker): Promise<void> => {
  // A thread that is gone has no id.
  if (thread.threadId === -1) return
  const gone = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
  thread.postMessage('end')
  const patience = setTimeout(() => void thread.terminate(), longestEnd)
  await gone
  clearTimeout(patience)
}

/**
 * The drill in a thread of its own: the gateway that serves lends it no loop, no store and no connection. The end of the
 * thread is the end of everything that it opened.
 */
export const drill = plugin({
  port: Drill,
  name: 'drill',
  create: (): Drill => ({
    scenes: sceneList.map(({ name, title }) => ({ scene: name, title })),
    play: (plan, scenes, signal) => played({ plan, scenes }, signal),
  }),
})
