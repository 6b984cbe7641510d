/** Elements that have no end in HTML either. */
const ended = /^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/i

/**
 * A page of XML for a parser of HTML: an element that closes itself, such as `<script src="a.js"/>`, gets an end of its
 * own. HTML would read it as open, and the rest of the page as its text.
 */
export const withEnds = (source: string): string => {
  const parts: string[] = []
  let done = 0
  for (let at = source.indexOf('<'); at >= 0; at = source.indexOf('<', at)) {
    const end = endOf(source, at)
    // What has no end is left as it stands, with all that follows.
    if (end < 0) break
    const name = source[end - 2] === '/' ? (/^<([a-z][^\s/>]*)/i.exec(source.slice(at, at + 100))?.[1] ?? '') : ''
    if (name !== '' && !ended.test(name)) {
      parts.push(source.slice(done, end - 2), `></${name}>`)
      done = end
    }
    at = end
  }
  return parts.join('') + source.slice(done)
}

/** The place behind a tag, a comment or a CDATA section; -1 without an end. */
const endOf = (source: string, from: number): number => {
  if (source.startsWith('<!--', from)) return behind(source, '-->', from + 4)
  if (source.startsWith('<![CDATA[', from)) return behind(source, ']]>', from + 9)
  let quote = ''
  for (let at = from + 1; at < source.length; at++) {
    const sign = source[at]!
    if (quote !== '') quote = sign === quote ? '' : quote
    else if (sign === '"' || sign === "'") quote = sign
    else if (sign === '>') return at + 1
  }
  return -1
}

const behind = (source: string, end: string, from: number): number => {
  const at = source.indexOf(end, from)
  return at < 0 ? -1 : at + end.length
}
