import type { ServerResponse } from 'node:http'
import { freeTurn } from '../dialects/loop-time.ts'
import type { Clock } from '../ports/platform.ts'

/** Ms that a reader may take nothing before it is cut, by this clock. Only while bytes wait for it: backends and stores take their own time. */
export interface ReaderPatience {
  readonly clock: Clock
  readonly stalled: number
}

/** Bytes that are handed on at once: so few that a slow reader is seen to take some. */
const mostAtOnce = 16 * 1024
/** Bytes that one turn of the loop hands on to a fast reader. */
const turnBytes = 512 * 1024

/** Resolves when all that was handed on is taken, or the reader is gone. */
const taken = (
  response: ServerResponse,
  event: 'drain' | 'finish',
  { clock, stalled }: ReaderPatience,
): Promise<void> =>
  new Promise((resolve) => {
    const cut = clock.alarm(stalled, () => response.destroy())
    const done = () => {
      cut.off()
      response.off(event, done).off('close', done)
      resolve()
    }
    response.once(event, done).once('close', done)
  })

/** Null when the reader can take more at once, as it mostly can; else resolves when it can, or is gone. */
export const handOn = (
  response: ServerResponse,
  part: string | Uint8Array,
  patience: ReaderPatience,
): Promise<void> | null => {
  if (response.destroyed) return null
  if (part.length > mostAtOnce) return inPieces(response, typeof part === 'string' ? Buffer.from(part) : part, patience)
  return response.write(part) ? null : taken(response, 'drain', patience)
}

const inPieces = async (response: ServerResponse, whole: Uint8Array, patience: ReaderPatience): Promise<void> => {
  for (let at = 0; at < whole.length && !response.destroyed; at += mostAtOnce) {
    if (at > 0 && at % turnBytes === 0) await freeTurn()
    if (!response.write(whole.subarray(at, at + mostAtOnce))) await taken(response, 'drain', patience)
  }
}

/** Ends the answer, with its last part if there is one; resolves when nothing of it waits any more, or the reader is gone. */
export const endAnswer = async (
  response: ServerResponse,
  last: string | Uint8Array | undefined,
  patience: ReaderPatience,
): Promise<void> => {
  if (last !== undefined && last.length > mostAtOnce) {
    await handOn(response, last, patience)
    last = undefined
  }
  response.end(last)
  if (!waits(response)) return
  // The kernel mostly takes all at once, which Node tells a tick later: cheaper than a timer and two listeners.
  await new Promise<void>(process.nextTick)
  if (waits(response)) await taken(response, 'finish', patience)
}

const waits = (response: ServerResponse): boolean => response.writableLength > 0 && !response.destroyed
