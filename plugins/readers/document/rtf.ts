import { documentWriter, type DocumentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import type { Beside } from '../../../core/ports/file-content.ts'
import { type Aside, type Field, isAside, rtfBeside } from './rtf-beside.ts'
import { codePageOf, decodeCodePage } from './rtf-charset.ts'
import { rtfRows } from './rtf-rows.ts'
import { runTexts } from '../shared/powers.ts'
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
  raised: boolean
  field: Field | null
  inTable: boolean
  heading: number | null
  level: number
}

/** A file that is being read. */
interface Reading {
  readonly beside: ReturnType<typeof rtfBeside>
  readonly writing: DocumentWriter
  readonly runs: ReturnType<typeof runTexts>
  readonly table: ReturnType<typeof rtfRows>
  /** Code pages of fonts, and levels of headings of styles, by their numbers. */
  readonly fonts: Map<number, number>
  readonly styles: Map<number, number>
  /** The groups around the current one. */
  readonly groups: Group[]
  group: Group
  /** The code page of the file. */
  ansi: number
  /** The number of the font of plain text; -1 where the file names none. */
  standard: number
  /** Bytes whose characters are not known yet. */
  pending: string
  /** Characters that repeat a Unicode character for older programs. */
  skip: number
  /** The text of a title, a style or a mark. */
  words: string
  mark: string
  font: number
  style: { number: number; heading: number | null }
}

/** Throws Unreadable when the outermost group has no end. */
export const readRtf = (bytes: Uint8Array): WrittenDocument & Beside => {
  const writing = documentWriter()
  const reading: Reading = {
    ...{ beside: rtfBeside(), writing, runs: runTexts(writing) },
    ...{ table: rtfRows(writing), fonts: new Map(), styles: new Map() },
    ...{ groups: [], group: { ...plain }, ansi: 1252, standard: -1, pending: '' },
    ...{ skip: 0, words: '', mark: '', font: 0 },
    style: { number: 0, heading: null },
  }
  for (const token of tokensOf(bytes)) {
    if (token.kind === 'text' || token.kind === 'byte') {
      take(reading, token.text)
      continue
    }
    flush(reading)
    if (token.kind === 'open') openGroup(reading)
    else if (token.kind === 'close') closeGroup(reading)
    else if (reading.skip > 0) reading.skip--
    else takeWord(reading, token.word, token.number)
    if (writing.full()) break
  }
  reading.table.stand(false)
  return { ...writing.finish(), ...reading.beside.finish() }
}

const openGroup = (reading: Reading): void => {
  reading.groups.push(reading.group)
  reading.group = { ...reading.group, starred: false }
  reading.skip = 0
}

const closeGroup = (reading: Reading): void => {
  const { destination, field } = reading.group
  reading.group = reading.groups.pop()!
  leave(reading, destination)
  if (field && field !== reading.group.field) reading.beside.leaveField(field)
  reading.skip = 0
}

/** An unknown word in a starred group makes the whole group unread, as RTF asks. */
const takeWord = (reading: Reading, word: string, number: number | null): void => {
  const { group } = reading
  if (unread.has(word) || (group.starred && !readStarred.has(word))) return goTo(reading, 'none')
  if (group.destination === 'none') return
  const character = characters.get(word)
  if (character !== undefined) put(reading, character)
  else words.get(word)?.(reading, number)
  if (word !== '*') reading.group.starred = false
}

const put = (reading: Reading, text: string): void => {
  const { destination, deleted, hidden, raised, field, inTable } = reading.group
  if (isAside(destination)) return reading.beside.say(destination, text, field)
  if (destination === 'title' || destination === 'style' || destination === 'mark')
    reading.words += text.slice(0, 1000 - reading.words.length)
  if ((destination !== 'text' && destination !== 'note') || deleted || text === '') return
  reading.table.stand(inTable)
  reading.beside.show(text, hidden, field)
  reading.runs.raise(raised)
  reading.runs.say(text)
}

/** Bytes become text only at a word or a group, since one character may take two bytes. */
const flush = (reading: Reading): void => {
  const text = reading.pending
  reading.pending = ''
  if (text !== '')
    put(
      reading,
      /^[\x00-\x7f]*$/.test(text) ? text : decodeCodePage(Buffer.from(text, 'latin1'), reading.group.codePage),
    )
}

const take = (reading: Reading, text: string): void => {
  const rest = text.slice(reading.skip)
  reading.skip = Math.max(0, reading.skip - text.length)
  if (reading.group.destination !== 'none') reading.pending += rest
  if (reading.pending.length > 100_000) flush(reading)
}

/** A destination inside of an unread one stays unread. */
const goTo = (reading: Reading, destination: Destination): void => {
  const { group } = reading
  if (group.destination === 'none' || isAside(group.destination)) return
  group.destination = destination
  reading.words = ''
  if (destination === 'note') {
    group.raised = false
    reading.writing.enter()
    reading.table.open()
  }
}

const endParagraph = (reading: Reading): void => {
  const { group, writing } = reading
  put(reading, isAside(group.destination) ? '\n' : '')
  if (group.destination !== 'text' && group.destination !== 'note') return
  reading.table.stand(group.inTable)
  if (reading.mark !== '') writing.mark('  '.repeat(group.level) + reading.mark)
  reading.mark = ''
  reading.runs.paragraph()
  if (group.heading === null) writing.end()
  else writing.endHeading(group.heading)
}

/** The level of the heading that the style of this name makes; 0 for none. */
const levelOf = (name: string): number =>
  Number(/^heading ([1-9])\b/i.exec(name)?.[1] ?? (/^title;/i.test(name) ? 1 : 0))

const leave = (reading: Reading, from: Destination): void => {
  const { writing, style } = reading
  if (from === 'style') {
    const level = style.heading ?? levelOf(reading.words)
    if (level > 0) reading.styles.set(style.number, level)
    reading.style = { number: 0, heading: null }
    reading.words = ''
  }
  if (from === reading.group.destination) return
  if (from === 'font') reading.group.codePage = codePageIn(reading, reading.standard)
  if (isAside(from)) return reading.beside.leave(from)
  if (from === 'title') writing.title(reading.words)
  if (from === 'mark') reading.mark = markOf(reading.words)
  if (from !== 'note') return
  reading.table.close()
  put(reading, writing.note(writing.leave().trim()))
}

/** The code page of a font. */
const codePageIn = ({ fonts, ansi }: Reading, font: number): number => fonts.get(font) ?? ansi

/** What one control word does; the number is null where none is written. */
type Word = (reading: Reading, number: number | null) => void

const goingTo =
  (destination: Destination): Word =>
  (reading) =>
    goTo(reading, destination)

/** Several control words do the same. */
const named = (word: Word, names: string): Readonly<Record<string, Word>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, word]))

/** What a control word does, by its name. */
const words: ReadonlyMap<string, Word> = new Map(
  Object.entries<Word>({
    '*': ({ group }) => void (group.starred = true),
    ansicpg: (reading, number) => void (reading.group.codePage = reading.ansi = number ?? reading.ansi),
    mac: (reading) => void (reading.group.codePage = reading.ansi = 10000),
    pc: (reading) => void (reading.group.codePage = reading.ansi = 437),
    pca: (reading) => void (reading.group.codePage = reading.ansi = 850),
    uc: ({ group }, number) => void (group.fallback = Math.min(Math.max(number ?? 1, 0), 10)),
    u(reading, number) {
      put(reading, String.fromCharCode((number ?? 0) & 0xffff))
      reading.skip = reading.group.fallback
    },
    f(reading, number) {
      reading.font = number ?? 0
      reading.group.codePage = codePageIn(reading, reading.font)
    },
    deff: (reading, number) => void (reading.standard = number ?? 0),
    fcharset({ group, fonts, font }, number) {
      const codePage = group.destination === 'font' ? codePageOf(number ?? 0) : null
      if (codePage !== null) fonts.set(font, codePage)
    },
    plain: (reading) =>
      void Object.assign(reading.group, {
        codePage: codePageIn(reading, reading.standard),
        hidden: false,
        raised: false,
      }),
    v: ({ group }, number) => void (group.hidden = number !== 0),
    ...named(({ group }, number) => void (group.raised = number !== 0), 'super up'),
    ...named(({ group }) => void (group.raised = false), 'sub nosupersub'),
    field: ({ group }) => void (group.field = { instruction: '', result: '' }),
    fldinst: goingTo('instruction'),
    ...named(goingTo('header'), 'header headerl headerr headerf'),
    ...named(goingTo('footer'), 'footer footerl footerr footerf'),
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
    ...named(endParagraph, 'par sect page nestrow'),
    nestcell: (reading) => put(reading, ' | '),
    cell({ group, table, runs }) {
      runs.paragraph()
      if (group.destination === 'text') table.cell()
    },
    row: ({ group, table }) => group.destination === 'text' && table.row(),
    fonttbl: goingTo('font'),
    stylesheet: goingTo('style'),
    info: goingTo('info'),
    title: (reading) => reading.group.destination === 'info' && goTo(reading, 'title'),
    ...named(goingTo('mark'), 'listtext pntext'),
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
  raised: false,
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
