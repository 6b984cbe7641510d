import type { ServerResponse } from 'node:http'

/** Resolves when the response accepts more data, or is closed. */
export const onDrain = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
