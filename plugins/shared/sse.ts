import { UpstreamFailed } from '../../core/errors.ts'
import { unpack, type Unpack } from './unpack.ts'

/** One event. `event` is null where the stream names no type, and `data` has its lines joined by LF. */
export interface SseEvent {
  readonly event: string | null
  readonly data: string
  /** Where the stream goes on at the next request, and the ms until then. */
  readonly id?: string
  readonly retry?: number | undefined
}

/** Characters of one event, or of one line. */
const mostEventLength = 4 * 1024 * 1024

/** Bytes to events as the standard says: any line ends, byte order mark, comments, many data lines, UTF-8 cut anywhere. An event that never ends is never given. */
export const sseUnpacker = (): Unpack<SseEvent> => {
  const decoder = new TextDecoder()
  /** The beginning of a line whose end has not come; joined only then, so that a long line in small pieces stays cheap. */
  let begun = ''
  let data: string | null = null
  let event: string | null = null
  let id: string | undefined
  let retry: number | undefined
  let returned = false

  const oversized = () => new UpstreamFailed(undefined, { again: true, cause: new Error('An event is over 4 MiB') })

  const line = (text: string, into: SseEvent[]) => {
    if (text === '') {
      if (data !== null) into.push(id === undefined ? { event, data } : { event, data, id, retry })
      data = event = null
      id = undefined
    } else if (text.startsWith('data:')) {
      const value = text.slice(text.charCodeAt(5) === 32 ? 6 : 5)
      data = data === null ? value : `${data}\n${value}`
      if (data.length > mostEventLength) throw oversized()
    } else if (text.startsWith('event:')) {
      event = text.slice(text.charCodeAt(6) === 32 ? 7 : 6) || null
    } else if (text.startsWith('id:')) id = text.slice(3).trimStart()
    else if (text.startsWith('retry:')) retry = Number(text.slice(6)) || undefined
    else if (text === 'data') data = data === null ? '' : `${data}\n`
  }

  return (read, into) => {
    const text = decoder.decode(read, { stream: true })
    if (text === '') return
    let at = returned && text.charCodeAt(0) === 10 ? 1 : 0
    returned = false
    // Each is looked up again only once it was passed: most streams have no CR at all.
    let feed = -1
    let back = -1
    for (;;) {
      if (feed < at) feed = find(text, '\n', at)
      if (back < at) back = find(text, '\r', at)
      const end = feed < back ? feed : back
      if (end === Infinity) {
        begun += text.slice(at)
        if (begun.length > mostEventLength) throw oversized()
        return
      }
      line(begun + text.slice(at, end), into)
      begun = ''
      at = end + 1
      if (end === back) {
        if (at === text.length) returned = true
        else if (text.charCodeAt(at) === 10) at++
      }
    }
  }
}

const find = (text: string, mark: string, from: number): number => {
  const found = text.indexOf(mark, from)
  return found < 0 ? Infinity : found
}

/** Throws UpstreamFailed for an event over 4 MiB. Closes the bytes when it is left early. */
export const sseEvents = (bytes: AsyncIterable<Uint8Array>): AsyncIterable<SseEvent> => unpack(bytes, sseUnpacker())
