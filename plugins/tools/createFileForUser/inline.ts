import type { Run, Runs } from './content.ts'

type Mark = 'bold' | 'italic' | 'struck'

interface Token {
  readonly text: string
  readonly code?: true
  readonly link?: string
  /** The style that begins or ends here, where its counterpart is found. */
  readonly mark?: Mark
  readonly opens?: boolean
  readonly closes?: boolean
}

/** The runs of a line of Markdown. What has no end is text. */
export const readInline = (text: string): Runs => {
  const tokens = tokensOf(text)
  const partner = partnersOf(tokens)
  const on = new Set<Mark>()
  const runs: Run[] = []
  for (const [at, { text, code, link, mark }] of tokens.entries()) {
    const other = mark === undefined ? undefined : partner.get(at)
    if (mark !== undefined && other !== undefined) {
      if (other > at) on.add(mark)
      else on.delete(mark)
      continue
    }
    push(runs, {
      text,
      ...(on.has('bold') && { bold: true as const }),
      ...(on.has('italic') && { italic: true as const }),
      ...(on.has('struck') && { struck: true as const }),
      ...(code && { code }),
      ...(link !== undefined && { link }),
    })
  }
  return runs
}

/** Runs of one style are joined, so that files stay small. */
const push = (runs: Run[], run: Run): void => {
  const last = runs.at(-1)
  if (run.text === '') return
  if (last === undefined || !isAlike(last, run)) runs.push(run)
  else runs[runs.length - 1] = { ...last, text: last.text + run.text }
}

const isAlike = (one: Run, other: Run): boolean =>
  (['bold', 'italic', 'struck', 'code', 'link'] as const).every((name) => one[name] === other[name])

/** For each end of a style the place of its other end; ends that cross others are dropped. */
const partnersOf = (tokens: readonly Token[]): ReadonlyMap<number, number> => {
  const partner = new Map<number, number>()
  const open: number[] = []
  const count: Record<Mark, number> = { bold: 0, italic: 0, struck: 0 }
  for (const [at, { text, mark, opens, closes }] of tokens.entries()) {
    if (mark === undefined) continue
    const from = closes && count[mark] > 0 ? open.findLastIndex((place) => tokens[place]?.text === text) : -1
    if (from >= 0) {
      const begin = open[from] ?? 0
      for (const place of open.splice(from)) count[tokens[place]?.mark ?? mark] -= 1
      partner.set(begin, at).set(at, begin)
    } else if (opens && open.length < mostOpenStyles) {
      open.push(at)
      count[mark] += 1
    }
  }
  return partner
}

/** Styles that may be open at once: what is looked through for each end. */
const mostOpenStyles = 100

const marks: Readonly<Record<string, Mark>> = {
  '**': 'bold',
  __: 'bold',
  '*': 'italic',
  _: 'italic',
  '~~': 'struck',
}

/** The signs at which plain text ends; a backslash before punctuation makes it text. */
const special =
  /\\[!-/:-@[-`{-~]|`+|\*\*?|__?|~~|!?\[|<br ?\/?>|<https?:[^<>\s]{1,2000}>|&(?:amp|lt|gt|quot|nbsp|#39);/gi

/** The few entities that models write; all others stay as they are. */
const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&nbsp;': '\u00a0',
  '&#39;': "'",
}

const tokensOf = (text: string): readonly Token[] => {
  const tokens: Token[] = []
  const ticks = lastTicks(text)
  let done = 0
  for (special.lastIndex = 0; ;) {
    const found = special.exec(text)
    if (found === null) return [...tokens, { text: text.slice(done) }]
    const at = found.index
    const { token, end } = tokenAt(text, at, found[0], ticks)
    tokens.push({ text: text.slice(done, at) }, token)
    done = end
    // Reading a token may use the pattern again.
    special.lastIndex = end
  }
}

const tokenAt = (
  text: string,
  at: number,
  sign: string,
  ticks: ReadonlyMap<number, number>,
): { readonly token: Token; readonly end: number } => {
  const end = at + sign.length
  const first = sign[0]
  if (first === '\\') return { token: { text: sign.slice(1) }, end }
  if (first === '&') return { token: { text: entities[sign.toLowerCase()] ?? sign }, end }
  if (first === '`') return codeAt(text, at, sign, ticks)
  if (/^<br/i.test(sign)) return { token: { text: '\n' }, end }
  if (first === '<') return { token: { text: sign.slice(1, -1), link: sign.slice(1, -1) }, end }
  if (sign.endsWith('[')) return linkAt(text, at, sign)
  // Of three stars the outer two end last.
  if (sign === '**' && text[at + 2] === '*' && /[^\s*]/.test(text[at - 1] ?? ' ')) return tokenAt(text, at, '*', ticks)
  return { token: markAt(text, at, sign), end }
}

/** A style begins before a letter and ends behind one; an underscore within a word is text, and a star between numbers. */
const markAt = (text: string, at: number, sign: string): Token => {
  const before = text[at - 1] ?? ' '
  const after = text[at + sign.length] ?? ' '
  const joins = sign.startsWith('_') ? /[\p{L}\p{N}]/u : /\d/
  const within = joins.test(before) && joins.test(after)
  const mark = marks[sign]
  if (within || mark === undefined) return { text: sign }
  return { text: sign, mark, opens: /\S/.test(after), closes: /\S/.test(before) }
}

/** The place of the last run of this many backticks: a search beyond the last run would find nothing. */
const lastTicks = (text: string): ReadonlyMap<number, number> =>
  new Map(Array.from(text.matchAll(/`+/g), (match) => [match[0].length, match.index]))

/** Code ends at as many backticks as it began with; without them, the backticks are text. */
const codeAt = (text: string, at: number, sign: string, ticks: ReadonlyMap<number, number>) => {
  const begin = at + sign.length
  if ((ticks.get(sign.length) ?? 0) < begin) return { token: { text: sign }, end: begin }
  const run = /`+/g
  run.lastIndex = begin
  let close = run.exec(text)
  while (close !== null && close[0].length !== sign.length) close = run.exec(text)
  if (close === null) return { token: { text: sign }, end: begin }
  const inner = text.slice(begin, close.index)
  return { token: { text: inner.replace(/^ (?=.*\S)(.*) $/, '$1'), code: true as const }, end: run.lastIndex }
}

/** Parts are bounded, and the pattern never backs up far, so that a hostile text costs little. */
const target = /\]\([ ]?<?([^()<>\s]{0,2000}(?:\([^()<>\s]{0,200}\)[^()<>\s]{0,200})?)>?(?: +"[^"\n]{0,500}")? ?\)/y

/** Addresses that a reader of the file may follow; all others stay words. */
const followed = /^(?:https?:\/\/|mailto:)[^\s"<>\\^`{|}]+$/i

/** An image becomes its words: a file that fetches addresses would tell who opens it. */
const linkAt = (text: string, at: number, sign: string) => {
  const begin = at + sign.length
  const close = closingAt(text, begin)
  target.lastIndex = close
  const found = close < 0 ? null : target.exec(text)
  if (found === null) return { token: { text: sign }, end: begin }
  const words = textOnly(text.slice(begin, close))
  const url = found[1] ?? ''
  const link = sign === '[' && followed.test(url) ? { link: url } : {}
  return { token: { text: words === '' ? url : words, ...link }, end: target.lastIndex }
}

/** Characters of a link's words: the bound of the search for their end. */
const mostWords = 1_000

/** The bracket that closes the words of a link; -1 where another one opens before. */
const closingAt = (text: string, begin: number): number => {
  for (let at = begin; at < text.length && at - begin < mostWords; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === ']') return at
    else if (text[at] === '[') return -1
  }
  return -1
}

/** The words of a link without marks of style; a link has one style. */
const textOnly = (text: string): string => text.replace(/\\([!-/:-@[-`{-~])/g, '$1').replace(/\*\*|__|~~|`/g, '')
