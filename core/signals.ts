import { getEventListeners } from 'node:events'

const most = 256
const idle: AbortController[] = []

/** A controller that nobody else has. */
export const lend = (): AbortController => idle.pop() ?? made()

/**
 * Takes a controller back once its work is done. Node 20 keeps every signal, with all that hangs on it, until the next
 * full collection, which made up a tenth of a request; so one that never fired and that nobody listens to serves again.
 */
export const giveBack = (it: AbortController): void => {
  if (idle.length < most && !it.signal.aborted && getEventListeners(it.signal, 'abort').length === 1) idle.push(it)
}

/** One listener stays for good: with the last one a signal drops its table of listeners, and makes a new one with the next. */
const made = (): AbortController => {
  const it = new AbortController()
  it.signal.addEventListener('abort', nothing)
  return it
}

const nothing = () => {}
