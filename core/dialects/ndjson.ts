import { garbled } from './backend.ts'
import type { Unpack } from './unpack.ts'

/** Characters of one line. */
const most = 4 * 1024 * 1024

/** Bytes to lines that are not empty; the last one counts only with its line end. */
export const lineUnpacker = (): Unpack<string> => {
  const decoder = new TextDecoder()
  /** Joined only when the line ends, so that a long line in small pieces stays cheap. */
  let begun = ''
  return (read, into) => {
    const text = decoder.decode(read, { stream: true })
    let at = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      const line = (begun + text.slice(at, end)).trim()
      begun = ''
      at = end + 1
      if (line !== '') into.push(line)
    }
    begun += text.slice(at)
    if (begun.length > most) throw garbled('A line is over 4 MiB')
  }
}
