import { Unreadable } from '../../../core/errors.ts'
import type { Beside } from '../../../core/ports/file-content.ts'
import { gatherBeside, type Gathering, shortened } from '../shared/beside.ts'
import { openCompound } from '../shared/compound.ts'
import { joinLines, documentWriter, type DocumentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import { shownPieces, unshownOf, withoutMarks } from './doc-characters.ts'
import { listAt } from './doc-formats.ts'
import { paragraphsOf } from './doc-paragraphs.ts'
import { isOld, type Piece, piecesOf } from './doc-pieces.ts'

/** The parts of a document in the order of its characters; their lengths follow each other in the header. */
const parts = ['text', 'footnotes', 'headers', 'macros', 'comments', 'endnotes', 'boxes'] as const

/** Where the lengths begin, in the header of Word 6 and of Word 97. */
const lengthsAt = { old: 0x34, since97: 0x4c } as const

/** Reads a Word document of the versions 6 to 2003. */
export const readDoc = (bytes: Uint8Array): WrittenDocument & Beside => {
  const file = openCompound(bytes)
  const main = file.stream('WordDocument')
  if (main === null || main.length < 0x200) throw new Unreadable()
  const flags = main.readUInt16LE(0x0a)
  if (flags & 0x100) throw new Unreadable({ flaw: 'password' })
  const table = file.stream(flags & 0x200 ? '1Table' : '0Table')
  const { shown, hidden } = shownPieces(piecesOf(main, table), unshownOf(main, table))
  const paragraphs = paragraphsOf(main, table)
  const writing = documentWriter()
  const gathering = gatherBeside()
  const lengths = isOld(main) ? lengthsAt.old : lengthsAt.since97
  for (const text of hidden) gathering.add('hidden', text)
  let at = 0
  for (const [number, part] of parts.entries()) {
    const end = at + Math.max(0, main.readInt32LE(lengths + 4 * number))
    const text = textOf(shown, at, end)
    at = end
    if (part === 'macros') continue
    if (part === 'headers') for (const line of linesOf(text)) gathering.add('headers', line)
    else if (part === 'comments') gatherComments(gathering, commentsOf(main, table, joined(text)), linesOf(text))
    else readPart({ writing, gathering, paragraphs, fields: [], cells: [], entered: false }, text)
  }
  return { ...writing.finish(), ...gathering.finish() }
}

/** Without a list of the comments, each of their lines is one. */
const gatherComments = (gathering: Gathering, comments: readonly Comment[] | null, lines: readonly string[]): void => {
  for (const { author, text } of comments ?? lines.map((text) => ({ author: null, text })))
    gathering.add('comments', { author, text, at: null })
}

/** Text with the place of its first byte in the file, and the bytes of a character. */
type Said = { readonly text: string; readonly place: number; readonly width: number }

/** The text between two places, which count characters over the whole document. */
const textOf = (pieces: readonly Piece[], from: number, to: number): readonly Said[] =>
  pieces.flatMap(({ start, text, place, width }) => {
    const first = Math.max(0, from - start)
    const last = Math.min(text.length, to - start)
    return first >= last ? [] : [{ text: text.slice(first, last), place: place + first * width, width }]
  })

const joined = (all: readonly Said[]): string => all.map(({ text }) => text).join('')

/** Lines of headers and comments, each text once: a file repeats its headers for each section. */
const linesOf = (all: readonly Said[]): readonly string[] => {
  const lines = withoutMarks(joined(all)).split(/[\r\n\x0b\x0c]/)
  return [...new Set(lines.map(shortened))].filter((line) => line !== '')
}

/** A part of the document that is being read. */
interface Reading {
  readonly writing: DocumentWriter
  readonly gathering: Gathering
  readonly paragraphs: ReturnType<typeof paragraphsOf>
  /** For each open field its instruction, and its result once that begins. */
  readonly fields: { instruction: string; result: string | null }[]
  readonly cells: string[]
  /** Within a cell of a table. */
  entered: boolean
}

/** Each run of text or control character is taken at the byte where it stands, which tells its format. */
const readPart = (reading: Reading, all: readonly Said[]): void => {
  const { writing, cells } = reading
  for (const { text, place, width } of all) {
    for (const found of text.matchAll(/[\x00-\x1f]|[^\x00-\x1f]+/g)) {
      const byte = place + found.index * width
      enterTable(reading, byte)
      if (found[0] >= ' ') say(reading, found[0])
      else takeSign(reading, found[0], byte)
    }
    if (writing.full()) return
  }
  if (reading.entered) writing.say(writing.leave())
  reading.entered = false
  writing.say(cells.splice(0).join(' | '))
  writing.end()
}

/** Control characters of Word: 7 ends a cell, 13 a paragraph, 12 a page; 19, 20 and 21 bound a field. */
const takeSign = (reading: Reading, sign: string, byte: number): void => {
  const open = reading.fields.at(-1)
  const meaning = signs[sign]
  if (sign === '\x07') {
    if (reading.entered) endCell(reading, byte)
    else say(reading, ' | ')
  } else if (sign === '\r' || sign === '\x0c') endParagraph(reading, byte)
  else if (sign === '\x13') reading.fields.push({ instruction: '', result: null })
  else if (sign === '\x14' && open !== undefined) open.result ??= ''
  else if (sign === '\x15') endField(reading)
  else if (meaning !== undefined) say(reading, meaning)
}

/** Text between 19 and 20 is the instruction of a field, and stays out of the document. */
const say = ({ fields, writing }: Reading, text: string): void => {
  const field = fields.at(-1)
  if (field && field.result === null) field.instruction += text.slice(0, 2_000)
  else {
    for (const open of fields) if (open.result !== null) open.result += text.slice(0, 2_000)
    writing.say(text)
  }
}

const endField = ({ fields, gathering }: Reading): void => {
  const field = fields.pop()
  const url = /^\s*HYPERLINK\s+(?:\\l\s+)?"([^"]+)"/i.exec(field?.instruction ?? '')?.[1]
  if (field && url) gathering.add('links', { url, text: shortened(field.result ?? ''), at: null })
}

const endCell = (reading: Reading, place: number): void => {
  const { writing, paragraphs, cells } = reading
  const cell = writing.leave()
  reading.entered = !paragraphs.endsRow(place)
  if (reading.entered) {
    cells.push(joinLines(cell))
    return writing.enter()
  }
  writing.say(cells.splice(0).join(' | '))
  writing.end()
}

const endParagraph = ({ writing, paragraphs }: Reading, place: number): void => {
  const heading = paragraphs.headingAt(place)
  if (heading === null) writing.end()
  else writing.endHeading(heading)
}

const enterTable = (reading: Reading, place: number): void => {
  if (reading.entered || !reading.paragraphs.inTable(place)) return
  reading.writing.end()
  reading.writing.enter()
  reading.entered = true
}

const signs: Readonly<Record<string, string>> = { '\t': '\t', '\x0b': '\n', '\n': '\n', '\x1e': '-' }

interface Comment {
  /** Null when the file names none. */
  readonly author: string | null
  readonly text: string
}

/** In the header: the places of the list of references, of the list of texts and of the names of authors. */
const lists = { references: 0xba, texts: 0xc2, authors: 0x1ba } as const

/** In bytes: a reference to a comment, and the place of its author's number in it. */
const reference = { bytes: 30, author: 20 } as const

/** The largest number of comments, and of their authors. */
const most = 1_000

/** The comments of a document since Word 97. Null for older versions, and for a missing or broken list. */
const commentsOf = (main: Buffer, table: Buffer | null, whole: string): readonly Comment[] | null => {
  if (isOld(main) || table === null) return null
  const texts = listAt(main, table, lists.texts)
  const references = listAt(main, table, lists.references)
  const authors = namesIn(listAt(main, table, lists.authors))
  const referred = Math.floor((references.length - 4) / (4 + reference.bytes))
  const comments: Comment[] = []
  // Behind the start of each comment stand two ends: that of the last comment, and that of the part.
  const count = Math.min(most, Math.floor(texts.length / 4) - 2)
  if (count < 1) return null
  for (let at = 0; at < count; at++) {
    const [from, to] = [texts.readUInt32LE(4 * at), texts.readUInt32LE(4 * at + 4)]
    if (from > to || to > whole.length) return null
    const text = shortened(withoutMarks(whole.slice(from, to)))
    const place = 4 * (referred + 1) + reference.bytes * at + reference.author
    const author = at < referred ? authors[references.readUInt16LE(place)] : undefined
    if (text !== '') comments.push({ author: author || null, text })
  }
  return comments
}

/** Names in UTF-16, each behind its length in characters. */
const namesIn = (list: Buffer): readonly string[] => {
  const names: string[] = []
  for (let at = 0; at + 2 <= list.length && names.length < most;) {
    const end = at + 2 + 2 * list.readUInt16LE(at)
    names.push(end > list.length ? '' : shortened(list.toString('utf16le', at + 2, end)))
    at = end
  }
  return names
}
