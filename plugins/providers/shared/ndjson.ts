import type { Answer, Clock } from '../../../core/ports/platform.ts'
import { finish, garbled, parseObject } from '../../shared/backend.ts'
import { unpack } from '../../shared/unpack.ts'

/** Characters of one line. */
const mostLineLength = 4 * 1024 * 1024

/** The items of a stream with a JSON object a line, as `read` makes them. It ends well only behind the line that is `last`. */
export const lineItems = <T>(
  answer: Answer,
  clock: Clock,
  read: (line: Record<string, unknown>) => { readonly item: T; readonly last: boolean },
): AsyncIterable<T> => {
  const decoder = new TextDecoder()
  /** Joined only when the line ends, so that a long line in small pieces stays cheap. */
  let begun = ''

  const take = (line: string, into: T[]): boolean => {
    const object = parseObject(line)
    if (object === null) throw garbled('A malformed line', answer.status)
    const { item, last } = read(object)
    into.push(item)
    return last
  }

  return unpack<T>(
    answer.body,
    (bytes, into) => {
      const text = decoder.decode(bytes, { stream: true })
      let at = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
        const line = (begun + text.slice(at, end)).trim()
        begun = ''
        at = end + 1
        if (line !== '' && take(line, into)) return true
      }
      begun += text.slice(at)
      if (begun.length > mostLineLength) throw garbled('A line is over 4 MiB', answer.status)
      return false
    },
    {
      cut() {
        throw garbled('The stream ended without its last line', answer.status)
      },
      over: (reads) => finish(reads, answer, clock),
    },
  )
}
