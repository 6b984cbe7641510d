import type { ServerResponse } from 'node:http'

/** When it takes more again, or nothing ever more. */
export const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
