import { Unreadable } from '../../../core/errors.ts'

/** Deeper texts are refused. */
const deepestNesting = 10_000

/**
 * Throws when the text is not JSON. Numbers beyond a double become text, as do NaN and Infinity, which some programs
 * write.
 */
export const parseJson = (text: string): unknown => JSON.parse(spared(text)) as unknown

/** The lines of a file as values, and the number of unreadable lines so far. */
export const parseLines = (text: string): { readonly records: Iterable<unknown>; broken(): number } => {
  let broken = 0
  const records = function* (): Generator<unknown> {
    for (const line of linesOf(text)) {
      const read = attempt(line)
      if (read) yield read.value
      else broken += 1
    }
  }
  return { records: records(), broken: () => broken }
}

/** True when the first line holds a value and further lines follow. */
export const isLines = (text: string): boolean => {
  const lines = linesOf(text)
  const first = lines.next().value
  return first !== undefined && attempt(first) !== null && lines.next().done === false
}

function* linesOf(text: string): Generator<string, undefined> {
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start)
    const end = found < 0 ? text.length : found
    const line = text.slice(start, end).trim()
    if (line !== '') yield line
    start = end + 1
  }
}

/** Null for a line that is no JSON. */
const attempt = (line: string): { readonly value: unknown } | null => {
  try {
    return { value: parseJson(line) }
  } catch {
    return null
  }
}

/** Quotes the numbers that a double would change. Throws when the text is nested too deep. */
const spared = (text: string): string => {
  const token = /["[\]{}]|-?(?:Infinity|\d[\d.eE+-]*)|NaN/g
  const pieces: string[] = []
  let depth = 0
  let done = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found] = match
    if (found === '"') token.lastIndex = endOfString(text, match.index)
    else if (found === '[' || found === '{') depth += 1
    else if (found === ']' || found === '}') depth -= 1
    else if (isMisread(found) && !isKey(text, token.lastIndex)) {
      pieces.push(text.slice(done, match.index), `"${found}"`)
      done = token.lastIndex
    }
    if (depth > deepestNesting) throw new Unreadable()
  }
  return pieces.length === 0 ? text : [...pieces, text.slice(done)].join('')
}

/** A colon follows: a quoted number would become a name that the text does not have. */
const isKey = (text: string, at: number): boolean => {
  const colon = /[ \t\n\r]*:/y
  colon.lastIndex = at
  return colon.test(text)
}

/** Behind the quote that ends the string which begins there. */
const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote
    while (text[before - 1] === '\\') before -= 1
    if ((quote - before) % 2 === 0) return quote + 1
  }
  return text.length
}

const isMisread = (number: string): boolean =>
  !Number.isFinite(Number(number))
    ? /^(NaN|-?Infinity|-?\d+(\.\d+)?([eE][+-]?\d+)?)$/.test(number)
    : number.length > 15 && /^-?\d+$/.test(number) && !Number.isSafeInteger(Number(number))
