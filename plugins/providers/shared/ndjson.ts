import type { Answer, Clock } from '../../../core/ports/platform.ts'
import { garbled, parseObject } from '../../shared/backend.ts'
import { type ItemReader, itemsBy } from './event-items.ts'

/** Characters of one line. */
const mostLineLength = 4 * 1024 * 1024

type ReadLine<T> = (line: Record<string, unknown>) => { readonly item: T; readonly last: boolean }

/** Reads a stream with a JSON object a line from its bytes, as `read` makes the items. */
export const unpackedLines = <T>(status: number, read: ReadLine<T>): ItemReader<T> => {
  const decoder = new TextDecoder()
  /** Joined only when the line ends, so that a long line in small pieces stays cheap. */
  let begun = ''

  const take = (line: string, into: T[]): boolean => {
    const object = parseObject(line)
    if (object === null) throw garbled('A malformed line', status)
    const { item, last } = read(object)
    into.push(item)
    return last
  }

  return {
    read(bytes, into) {
      const text = decoder.decode(bytes, { stream: true })
      let at = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
        const line = (begun + text.slice(at, end)).trim()
        begun = ''
        at = end + 1
        if (line !== '' && take(line, into)) return true
      }
      begun += text.slice(at)
      if (begun.length > mostLineLength) throw garbled('A line is over 4 MiB', status)
      return false
    },
    cut() {
      throw garbled('The stream ended without its last line', status)
    },
  }
}

/** The items of a stream with a JSON object a line, as `read` makes them. It ends well only behind the line that is `last`. */
export const lineItems = <T>(answer: Answer, clock: Clock, read: ReadLine<T>): AsyncIterable<T> =>
  itemsBy(answer, clock, unpackedLines(answer.status, read))
