import type { Writable } from 'node:stream'

/** Resolves when the other side takes more, or is gone. */
export const onDrain = (to: Writable): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      to.off('drain', done).off('close', done)
      resolve()
    }
    to.on('drain', done).on('close', done)
  })
