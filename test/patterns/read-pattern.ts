/** A part of a regular expression: what one text would be that it matches. */
export interface Part {
  readonly kind: 'atom' | 'group' | 'edge'
  readonly source: string
  /** Of a group: its ways, each a sequence. */
  readonly ways: readonly (readonly Part[])[]
  /** Whether the part looks ahead or behind and takes nothing. */
  readonly looks: boolean
  /** Least and most repetitions. */
  readonly least: number
  readonly most: number
}

const quantifier = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y

const repetitions = (source: string, at: number): { readonly least: number; readonly most: number; end: number } => {
  quantifier.lastIndex = at
  const found = quantifier.exec(source)
  if (found === null) return { least: 1, most: 1, end: at }
  const [text, low, comma, high] = found
  const end = at + text.length
  if (low !== undefined) {
    const most = comma === undefined ? Number(low) : high === '' ? Infinity : Number(high)
    return { least: Number(low), most, end }
  }
  return { least: text.startsWith('+') ? 1 : 0, most: text.startsWith('?') ? 1 : Infinity, end }
}

/** Where the class that begins at `at` ends. */
const classEnd = (source: string, at: number): number => {
  let end = at + 1
  while (source[end] !== ']') end += source[end] === '\\' ? 2 : 1
  return end + 1
}

const escapes = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|k<[^>]*>|[^])/y

const atomEnd = (source: string, at: number): number => {
  if (source[at] === '[') return classEnd(source, at)
  escapes.lastIndex = at
  const escaped = escapes.exec(source)
  if (escaped !== null) return at + escaped[0].length
  return at + String.fromCodePoint(source.codePointAt(at) ?? 0).length
}

const opening = /\((?:\?(?:<?[=!]|:|<\w+>))?/y

/** Reads the source of a pattern, as `/…/` holds it. */
export const readPattern = (source: string): readonly (readonly Part[])[] => {
  let at = 0
  const group = (): Part => {
    const from = at
    opening.lastIndex = at
    const begin = opening.exec(source)?.[0] ?? '('
    at += begin.length
    const ways = alternatives()
    at++
    const { least, most, end } = repetitions(source, at)
    at = end
    return { kind: 'group', source: source.slice(from, at), ways, looks: /[=!]$/.test(begin), least, most }
  }
  const atom = (): Part => {
    const from = at
    at = atomEnd(source, at)
    const text = source.slice(from, at)
    const kind = /^(?:[\^$]|\\[bB])$/.test(text) ? 'edge' : 'atom'
    const { least, most, end } = repetitions(source, at)
    at = end
    return { kind, source: text, ways: [], looks: false, least, most }
  }
  const alternatives = (): readonly (readonly Part[])[] => {
    const ways: Part[][] = [[]]
    while (at < source.length && source[at] !== ')') {
      if (source[at] === '|') {
        at++
        ways.push([])
      } else ways.at(-1)?.push(source[at] === '(' ? group() : atom())
    }
    return ways
  }
  return alternatives()
}

/** Whether the pattern reads no more than a bounded beginning of a text. */
export const readsBeginning = (source: string): boolean => {
  const isBounded = (ways: Part['ways']): boolean =>
    ways.flat().every(({ most, ways }) => most < Infinity && isBounded(ways))
  return source.startsWith('^') && isBounded(readPattern(source))
}
