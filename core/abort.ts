import { getEventListeners } from 'node:events'

/** Controllers that one process keeps for their next use. The garbage collector takes all beyond them. */
const mostIdle = 256
const idle: AbortController[] = []

/** A controller that nobody else has. */
export const lendController = (): AbortController => idle.pop() ?? made()

/** How often one serves: signals that were made from it stay on it, unseen, for as long as it lives. */
const lives = 64
const lived = new WeakMap<AbortController, number>()

/**
 * Takes a controller back once its work is done. Node 20 keeps every signal, with all that hangs on it, until the next
 * full collection, which made up a tenth of a request; a new controller costs three times as much as a used one. So a
 * controller that never fired and that nobody listens to serves again.
 */
export const returnController = (controller: AbortController): void => {
  const served = (lived.get(controller) ?? 0) + 1
  if (idle.length === mostIdle || served === lives || controller.signal.aborted) return
  if (getEventListeners(controller.signal, 'abort').length > 1) return
  lived.set(controller, served)
  idle.push(controller)
}

/** One listener stays for good: with the last one a signal drops its table of listeners, and makes a new one with the next. */
const made = (): AbortController => {
  const controller = new AbortController()
  controller.signal.addEventListener('abort', nothing)
  return controller
}

const nothing = () => {}

/** Stops waiting when the signal fires, with its reason; the work goes on. */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  if (signal.aborted) {
    work.catch(() => {})
    return Promise.reject(signal.reason)
  }
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
