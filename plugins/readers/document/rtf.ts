import { documentWriter, type DocumentWriter, type WrittenDocument } from '../shared/document-writing.ts'
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

/** A file that is being read. */
interface Reading {
  readonly beside: ReturnType<typeof rtfBeside>
  readonly writing: DocumentWriter
  readonly table: ReturnType<typeof rtfRows>
  /** Code pages of fonts, and levels of headings of styles, by their numbers. */
  readonly fonts: Map<number, number>
  readonly styles: Map<number, number>
  /** The groups around the current one. */
  readonly groups: Group[]
  group: Group
  /** The code page of the file. */
  ansi: number
  /** Bytes whose characters are not known yet. */
  pending: string
  /** Characters that repeat a Unicode character for older programs. */
  skip: number
  /** The text of a title, a style or a mark. */
  said: string
  mark: string
  font: number
  style: { number: number; heading: number | null }
}

/** Throws Unreadable when the outermost group has no end. */
export const readRtf = (bytes: Uint8Array): WrittenDocument & Beside => {
  const writing = documentWriter()
  const it: Reading = {
    ...{ beside: rtfBeside(), writing, table: rtfRows(writing), fonts: new Map(), styles: new Map() },
    ...{ groups: [], group: { ...plain }, ansi: 1252, pending: '', skip: 0, said: '', mark: '', font: 0 },
    style: { number: 0, heading: null },
  }
  for (const token of tokensOf(bytes)) {
    if (token.kind === 'text' || token.kind === 'byte') {
      take(it, token.text)
      continue
    }
    flush(it)
    if (token.kind === 'open') openGroup(it)
    else if (token.kind === 'close') closeGroup(it)
    else if (it.skip > 0) it.skip--
    else takeWord(it, token.word, token.number)
    if (writing.full()) break
  }
  it.table.stand(false)
  return { ...writing.finish(), ...it.beside.finish() }
}

const openGroup = (it: Reading): void => {
  it.groups.push(it.group)
  it.group = { ...it.group, starred: false }
  it.skip = 0
}

const closeGroup = (it: Reading): void => {
  const { destination, field } = it.group
  it.group = it.groups.pop()!
  leave(it, destination)
  if (field && field !== it.group.field) it.beside.leaveField(field)
  it.skip = 0
}

/** An unknown word in a starred group makes the whole group unread, as RTF asks. */
const takeWord = (it: Reading, word: string, number: number | null): void => {
  const { group } = it
  if (unread.has(word) || (group.starred && !readStarred.has(word))) return goTo(it, 'none')
  if (group.destination === 'none') return
  const character = characters.get(word)
  if (character !== undefined) put(it, character)
  else words.get(word)?.(it, number)
  if (word !== '*') it.group.starred = false
}

const put = (it: Reading, text: string): void => {
  const { destination, deleted, hidden, field, inTable } = it.group
  if (isAside(destination)) return it.beside.say(destination, text, field)
  if (destination === 'title' || destination === 'style' || destination === 'mark')
    it.said += text.slice(0, 1000 - it.said.length)
  if ((destination !== 'text' && destination !== 'note') || deleted || text === '') return
  it.table.stand(inTable)
  it.beside.show(text, hidden, field)
  it.writing.say(text)
}

/** Bytes become text only at a word or a group, since one character may take two bytes. */
const flush = (it: Reading): void => {
  const text = it.pending
  it.pending = ''
  if (text !== '')
    put(it, /^[\x00-\x7f]*$/.test(text) ? text : decodeCodePage(Buffer.from(text, 'latin1'), it.group.codePage))
}

const take = (it: Reading, text: string): void => {
  const rest = text.slice(it.skip)
  it.skip = Math.max(0, it.skip - text.length)
  if (it.group.destination !== 'none') it.pending += rest
  if (it.pending.length > 100_000) flush(it)
}

/** A destination inside of an unread one stays unread. */
const goTo = (it: Reading, destination: Destination): void => {
  const { group } = it
  if (group.destination === 'none' || isAside(group.destination)) return
  group.destination = destination
  it.said = ''
  if (destination === 'note') {
    it.writing.enter()
    it.table.open()
  }
}

const endParagraph = (it: Reading): void => {
  const { group, writing } = it
  put(it, isAside(group.destination) ? '\n' : '')
  if (group.destination !== 'text' && group.destination !== 'note') return
  it.table.stand(group.inTable)
  if (it.mark !== '') writing.mark('  '.repeat(group.level) + it.mark)
  it.mark = ''
  if (group.heading === null) writing.end()
  else writing.endHeading(group.heading)
}

/** The level of the heading that the style of this name makes; 0 for none. */
const levelOf = (name: string): number =>
  Number(/^heading ([1-9])\b/i.exec(name)?.[1] ?? (/^title;/i.test(name) ? 1 : 0))

const leave = (it: Reading, from: Destination): void => {
  const { writing, style } = it
  if (from === 'style') {
    const level = style.heading ?? levelOf(it.said)
    if (level > 0) it.styles.set(style.number, level)
    it.style = { number: 0, heading: null }
    it.said = ''
  }
  if (from === it.group.destination) return
  if (isAside(from)) return it.beside.leave(from)
  if (from === 'title') writing.title(it.said)
  if (from === 'mark') it.mark = markOf(it.said)
  if (from !== 'note') return
  it.table.close()
  put(it, writing.note(writing.leave().trim()))
}

/** What one control word does; the number is null where none is written. */
type Word = (it: Reading, number: number | null) => void

const goingTo =
  (destination: Destination): Word =>
  (it) =>
    goTo(it, destination)

/** What a control word does, by its name. */
const words: ReadonlyMap<string, Word> = new Map(
  Object.entries<Word>({
    '*': ({ group }) => void (group.starred = true),
    ansicpg: (it, number) => void (it.group.codePage = it.ansi = number ?? it.ansi),
    mac: (it) => void (it.group.codePage = it.ansi = 10000),
    uc: ({ group }, number) => void (group.fallback = Math.min(Math.max(number ?? 1, 0), 10)),
    u(it, number) {
      put(it, String.fromCharCode((number ?? 0) & 0xffff))
      it.skip = it.group.fallback
    },
    f(it, number) {
      it.font = number ?? 0
      it.group.codePage = it.fonts.get(it.font) ?? it.ansi
    },
    fcharset({ group, fonts, font }, number) {
      const codePage = group.destination === 'font' ? codePageOf(number ?? 0) : null
      if (codePage !== null) fonts.set(font, codePage)
    },
    plain: ({ group, ansi }) => void Object.assign(group, { codePage: ansi, hidden: false }),
    v: ({ group }, number) => void (group.hidden = number !== 0),
    field: ({ group }) => void (group.field = { instruction: '', result: '' }),
    fldinst: goingTo('instruction'),
    header: goingTo('header'),
    headerl: goingTo('header'),
    headerr: goingTo('header'),
    headerf: goingTo('header'),
    footer: goingTo('footer'),
    footerl: goingTo('footer'),
    footerr: goingTo('footer'),
    footerf: goingTo('footer'),
    annotation: goingTo('comment'),
    atnauthor: goingTo('author'),
    deleted: ({ group }, number) => void (group.deleted = number !== 0),
    pard: ({ group }) => void Object.assign(group, { inTable: false, heading: null, level: 0 }),
    s({ group, style, styles }, number) {
      if (group.destination === 'style') style.number = number ?? 0
      else group.heading = styles.get(number ?? 0) ?? null
    },
    outlinelevel({ group, style }, number) {
      const heading = number !== null && number >= 0 && number < 9 ? number + 1 : null
      if (group.destination === 'style') style.heading = heading
      else group.heading = heading
    },
    ilvl: ({ group }, number) => void (group.level = Math.min(Math.max(number ?? 0, 0), 8)),
    intbl: ({ group }) => void (group.inTable = true),
    par: endParagraph,
    sect: endParagraph,
    page: endParagraph,
    nestrow: endParagraph,
    nestcell: (it) => put(it, ' | '),
    cell: ({ group, table }) => group.destination === 'text' && table.cell(),
    row: ({ group, table }) => group.destination === 'text' && table.row(),
    fonttbl: goingTo('font'),
    stylesheet: goingTo('style'),
    info: goingTo('info'),
    title: (it) => it.group.destination === 'info' && goTo(it, 'title'),
    listtext: goingTo('mark'),
    pntext: goingTo('mark'),
    footnote: goingTo('note'),
  }),
)

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

const characters: ReadonlyMap<string, string> = new Map(
  Object.entries({
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
  }),
)

/** Destinations without text of the document: colours, pictures, embedded objects, entries of an index. */
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
