import type { ServerResponse } from 'node:http'
import type { Alarm, Clock } from '../ports/host.ts'

/** Ms that a reader may take nothing before it is cut, by this clock. Only while bytes wait for it: backends and stores take their own time. */
export interface Patience {
  readonly clock: Clock
  readonly stalled: number
}

/** Bytes that are handed on at once: so few that a slow reader is seen to take some. */
const most = 16 * 1024

/** Resolves when all that was handed on is taken, or the reader is gone. */
const taken = (response: ServerResponse, event: 'drain' | 'finish', { clock, stalled }: Patience): Promise<void> =>
  new Promise((resolve) => {
    let cut: Alarm | null = null
    const watch = () => void (cut = clock.alarm(stalled, () => response.destroy()))
    const done = () => {
      cut?.off()
      response.off('socket', watch).off(event, done).off('close', done)
      resolve()
    }
    response.once(event, done).once('close', done)
    // Behind another answer of its connection it is not the reader who is waited for.
    if (response.socket === null) response.once('socket', watch)
    else watch()
  })

/** Resolves when the reader can take more, or is gone. */
export const hand = async (response: ServerResponse, part: string | Uint8Array, patience: Patience): Promise<void> => {
  const write = async (bytes: string | Uint8Array) => {
    if (!response.write(bytes)) await taken(response, 'drain', patience)
  }
  if (part.length <= most) return response.destroyed ? undefined : write(part)
  const whole = typeof part === 'string' ? Buffer.from(part) : part
  for (let at = 0; at < whole.length && !response.destroyed; at += most) await write(whole.subarray(at, at + most))
}

/** Ends the answer, with its last part if there is one; resolves when nothing of it waits any more, or the reader is gone. */
export const end = async (response: ServerResponse, last: string | undefined, patience: Patience): Promise<void> => {
  if (last !== undefined && last.length > most) {
    await hand(response, last, patience)
    last = undefined
  }
  response.end(last)
  if (response.writableLength > 0 && !response.destroyed) await taken(response, 'finish', patience)
}
