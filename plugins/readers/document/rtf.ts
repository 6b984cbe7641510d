import { documentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import type { Beside } from '../../../core/ports/file-content.ts'
import { type Aside, type Field, isAside, rtfBeside } from './rtf-beside.ts'
import { codePageOf, decodeCodePage } from './rtf-charset.ts'
import { rtfRows } from './rtf-rows.ts'
import { tokensOf } from './rtf-tokens.ts'

type Destination = 'text' | 'none' | 'info' | 'title' | 'font' | 'style' | 'mark' | 'note' | Aside

/** The state of a group, which ends with the group. */
interface Group {
  destination: Destination
  starred: boolean
  /** The number of characters that repeat a Unicode character for older programs. */
  fallback: number
  codePage: number
  deleted: boolean
  hidden: boolean
  field: Field | null
  inTable: boolean
  heading: number | null
  level: number
}

export const readRtf = (bytes: Uint8Array): WrittenDocument & Beside => {
  const beside = rtfBeside()
  const writing = documentWriter()
  const table = rtfRows(writing)
  const fonts = new Map<number, number>()
  const styles = new Map<number, number>()
  const groups: Group[] = []
  let group: Group = { ...plain }
  let ansi = 1252
  let pending = ''
  let skip = 0
  let said = ''
  let mark = ''
  let font = 0
  let style = { number: 0, heading: null as number | null }

  const put = (text: string) => {
    const { destination, deleted, hidden, field, inTable } = group
    if (isAside(destination)) return beside.say(destination, text, field)
    if (destination === 'title' || destination === 'style' || destination === 'mark')
      said += text.slice(0, 1000 - said.length)
    if ((destination !== 'text' && destination !== 'note') || deleted || text === '') return
    table.stand(inTable)
    beside.show(text, hidden, field)
    writing.say(text)
  }
  const flush = () => {
    const text = pending
    pending = ''
    if (text !== '')
      put(/^[\x00-\x7f]*$/.test(text) ? text : decodeCodePage(Buffer.from(text, 'latin1'), group.codePage))
  }
  const take = (text: string) => {
    const rest = text.slice(skip)
    skip = Math.max(0, skip - text.length)
    if (group.destination !== 'none') pending += rest
    if (pending.length > 100_000) flush()
  }
  const goTo = (destination: Destination) => {
    if (group.destination === 'none' || isAside(group.destination)) return
    group.destination = destination
    said = ''
    if (destination === 'note') {
      writing.enter()
      table.open()
    }
  }
  const endParagraph = () => {
    put(isAside(group.destination) ? '\n' : '')
    if (group.destination !== 'text' && group.destination !== 'note') return
    table.stand(group.inTable)
    if (mark !== '') writing.mark('  '.repeat(group.level) + mark)
    mark = ''
    if (group.heading === null) writing.end()
    else writing.endHeading(group.heading)
  }
  const leave = (from: Destination) => {
    if (from === 'style') {
      const level = style.heading ?? Number(/^heading ([1-9])\b/i.exec(said)?.[1] ?? (/^title;/i.test(said) ? 1 : 0))
      if (level > 0) styles.set(style.number, level)
      style = { number: 0, heading: null }
      said = ''
    }
    if (from === group.destination) return
    if (isAside(from)) return beside.leave(from)
    if (from === 'title') writing.title(said)
    if (from === 'mark') mark = markOf(said)
    if (from !== 'note') return
    table.close()
    put(writing.note(writing.leave().trim()))
  }
  const words: Readonly<Record<string, (number: number | null) => void>> = {
    '*': () => void (group.starred = true),
    ansicpg: (number) => void (group.codePage = ansi = number ?? ansi),
    mac: () => void (group.codePage = ansi = 10000),
    uc: (number) => void (group.fallback = Math.min(Math.max(number ?? 1, 0), 10)),
    u: (number) => {
      put(String.fromCharCode((number ?? 0) & 0xffff))
      skip = group.fallback
    },
    f: (number) => {
      font = number ?? 0
      group.codePage = fonts.get(font) ?? ansi
    },
    fcharset: (number) => {
      const codePage = group.destination === 'font' ? codePageOf(number ?? 0) : null
      if (codePage !== null) fonts.set(font, codePage)
    },
    plain: () => void Object.assign(group, { codePage: ansi, hidden: false }),
    v: (number) => void (group.hidden = number !== 0),
    field: () => void (group.field = { instruction: '', result: '' }),
    fldinst: () => goTo('instruction'),
    header: () => goTo('header'),
    headerl: () => goTo('header'),
    headerr: () => goTo('header'),
    headerf: () => goTo('header'),
    footer: () => goTo('footer'),
    footerl: () => goTo('footer'),
    footerr: () => goTo('footer'),
    footerf: () => goTo('footer'),
    annotation: () => goTo('comment'),
    atnauthor: () => goTo('author'),
    deleted: (number) => void (group.deleted = number !== 0),
    pard: () => void Object.assign(group, { inTable: false, heading: null, level: 0 }),
    s: (number) => {
      if (group.destination === 'style') style.number = number ?? 0
      else group.heading = styles.get(number ?? 0) ?? null
    },
    outlinelevel: (number) => {
      const heading = number !== null && number >= 0 && number < 9 ? number + 1 : null
      if (group.destination === 'style') style.heading = heading
      else group.heading = heading
    },
    ilvl: (number) => void (group.level = Math.min(Math.max(number ?? 0, 0), 8)),
    intbl: () => void (group.inTable = true),
    par: endParagraph,
    sect: endParagraph,
    page: endParagraph,
    nestrow: endParagraph,
    nestcell: () => put(' | '),
    cell: () => group.destination === 'text' && table.cell(),
    row: () => group.destination === 'text' && table.row(),
    fonttbl: () => goTo('font'),
    stylesheet: () => goTo('style'),
    info: () => goTo('info'),
    title: () => group.destination === 'info' && goTo('title'),
    listtext: () => goTo('mark'),
    pntext: () => goTo('mark'),
    footnote: () => goTo('note'),
  }

  for (const token of tokensOf(bytes)) {
    if (token.kind === 'text' || token.kind === 'byte') {
      take(token.text)
      continue
    }
    flush()
    if (token.kind === 'open') {
      groups.push(group)
      group = { ...group, starred: false }
      skip = 0
    } else if (token.kind === 'close') {
      const { destination, field } = group
      group = groups.pop()!
      leave(destination)
      if (field && field !== group.field) beside.leaveField(field)
      skip = 0
    } else if (skip > 0) skip--
    else if (unread.has(token.word) || (group.starred && !readStarred.has(token.word))) goTo('none')
    else if (group.destination !== 'none') {
      if (Object.hasOwn(characters, token.word)) put(characters[token.word]!)
      else if (Object.hasOwn(words, token.word)) words[token.word]!(token.number)
      if (token.word !== '*') group.starred = false
    }
    if (writing.full()) break
  }
  table.stand(false)
  return { ...writing.finish(), ...beside.finish() }
}

const plain: Group = {
  destination: 'text',
  starred: false,
  fallback: 1,
  codePage: 1252,
  deleted: false,
  hidden: false,
  field: null,
  inTable: false,
  heading: null,
  level: 0,
}

const characters: Readonly<Record<string, string>> = {
  tab: '\t',
  line: '\n',
  emdash: '—',
  endash: '–',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
}

const unread = new Set(
  (
    'colortbl pict objdata sp nonshppict tc tcn xe ' +
    'bkmkstart bkmkend nonesttables listtable listoverridetable revtbl filetbl themedata template'
  ).split(' '),
)

/** Starred destinations that are read; a program may skip any unknown one. */
const readStarred = new Set(['footnote', 'shpinst', 'shptxt', 'fldinst', 'annotation', 'atnauthor'])

/** A bullet is a character of a symbol font, so any other character becomes a dash. */
const markOf = (text: string): string => {
  const mark = text.trim()
  if (mark === '') return ''
  return /[\p{L}\p{N}]/u.test(mark) ? `${mark} ` : '- '
}
