import { Unreadable } from '../../../core/errors.ts'
import type { Beside, Slides } from '../../../core/ports/file-content.ts'
import { gatherBeside, shortened } from '../shared/beside.ts'
import { openCompound } from '../shared/compound.ts'
import { atoms, type Atom, kinds } from './ppt-records.ts'
import { gatherSlides } from './slide-bounds.ts'

/** Kinds of texts, as their headers number them. */
const titles = new Set([0, 6])

/** Places of a layout that hold a title: level, in the middle, upright. */
const titlePlaces = new Set([13, 15, 17])

/** Lists of slides by the part that they list. */
const lists = { slides: 0, notes: 2 } as const

/** Reads a presentation of PowerPoint 97 to 2003. */
export const readPpt = (bytes: Uint8Array): Slides => {
  const file = openCompound(bytes)
  const stream = file.stream('PowerPoint Document')
  const user = file.stream('Current User')
  if (stream === null || user === null || user.length < 20) throw new Unreadable()
  if (user.readUInt32LE(12) === encrypted) throw new Unreadable({ flaw: 'password' })
  const { document, partAt } = savedParts(stream, user.readUInt32LE(16))
  const outlines = outlinesOf(document)
  const notes = new Map<number, string>()
  for (const { part } of outlines.filter(({ list }) => list === lists.notes)) {
    const found = textsIn(partAt(part), [])
    notes.set(found.slide, found.texts.flatMap(({ kind, text }) => (kind === notesText ? [text] : [])).join('\n'))
  }
  const gathered = gatherSlides()
  for (const { part, slide, texts } of outlines.filter(({ list }) => list === lists.slides)) {
    if (gathered.full()) return gathered.finish(false)
    const found = textsIn(partAt(part), texts)
    const title = found.texts.find(({ kind }) => titles.has(kind))
    const rest = found.texts.filter((text) => text !== title)
    const body = rest.map(({ text }) => text).join('\n')
    gathered.add(title?.text ?? '', body, notes.get(slide) ?? '', found.hidden)
  }
  return { ...gathered.finish(true), ...linksOf(document) }
}

/** What the file of an encrypted presentation begins with. */
const encrypted = 0xf3d1c4df
const notesText = 2

/** The addresses of a presentation. Each follows the name of its link. */
const linksOf = (document: Buffer): Beside => {
  const gathering = gatherBeside()
  let name = ''
  for (const { kind, instance, data } of atoms(document)) {
    if (kind === kinds.link) name = ''
    else if (kind !== kinds.name) continue
    else if (instance === 0) name = data.toString('utf16le')
    else if (instance === 1 && /^(https?|mailto):/i.test(data.toString('utf16le')))
      gathering.add('links', { url: data.toString('utf16le').slice(0, 2_000), text: shortened(name), at: null })
  }
  return gathering.finish()
}

interface Text {
  readonly kind: number
  readonly text: string
}

interface Outline {
  readonly list: number
  /** The number of the part with the slide. */
  readonly part: number
  readonly slide: number
  readonly texts: Text[]
}

/** The slides and notes of a document, with the texts of their outlines. */
const outlinesOf = (document: Buffer): readonly Outline[] => {
  const outlines: Outline[] = []
  let list = -1
  let kind = 0
  for (const atom of atoms(document)) {
    if (atom.kind === kinds.slideList) list = atom.instance
    else if (atom.kind === kinds.slidePlace && atom.data.length >= 16)
      outlines.push({ list, part: atom.data.readUInt32LE(0), slide: atom.data.readUInt32LE(12), texts: [] })
    else if (atom.kind === kinds.textHead) kind = atom.data[0] ?? 0
    else if (list >= 0) for (const text of saidBy(atom)) outlines.at(-1)?.texts.push({ kind, text })
  }
  return outlines
}

/** The texts of a slide: in its own boxes, and those that a box takes from the outline. */
const textsIn = (part: Buffer, outline: readonly Text[]) => {
  const texts: Text[] = []
  const left = new Set(outline)
  let [kind, slide, hidden, isTitle] = [4, 0, false, false]
  for (const atom of atoms(part)) {
    if (atom.kind === kinds.shape) isTitle = false
    else if (atom.kind === kinds.placeholder) isTitle = titlePlaces.has(atom.data[4] ?? 0)
    else if (atom.kind === kinds.textHead) kind = isTitle ? 0 : (atom.data[0] ?? 4)
    else if (atom.kind === kinds.notes && atom.data.length >= 4) slide = atom.data.readUInt32LE(0)
    else if (atom.kind === kinds.show && atom.data.length >= 12) hidden = (atom.data.readUInt16LE(10) & 4) !== 0
    else if (atom.kind === kinds.outlined && atom.data.length >= 4) {
      const text = outline[atom.data.readUInt32LE(0)]
      if (text && left.delete(text)) texts.push(text)
    } else for (const text of saidBy(atom)) texts.push({ kind, text })
  }
  return { texts: [...texts, ...left], slide, hidden }
}

/** Narrow texts are the lower halves of UTF-16, which is Latin-1. */
const narrow = new TextDecoder('latin1')

/** The text of a record, if it has any. An asterisk alone stands for a field, such as the number of a slide. */
function* saidBy({ kind, data }: Atom): Generator<string> {
  if (kind !== kinds.wideText && kind !== kinds.narrowText) return
  const text = kind === kinds.wideText ? data.toString('utf16le') : narrow.decode(data)
  const words = text
    .replace(/[\r\x0b]/g, '\n')
    .replace(/[\x00-\x08\x0c-\x1f]/g, '')
    .trim()
  if (words !== '' && words !== '*') yield words
}

/** The number of saves that a file may remember. */
const mostEdits = 1_000

/** The parts of a presentation as it was last saved. A file keeps what earlier saves wrote. */
const savedParts = (stream: Buffer, lastEdit: number) => {
  const places = new Map<number, number>()
  let document = -1
  let edit = lastEdit
  for (let left = mostEdits; edit !== 0 && left > 0; left--) {
    const data = recordAt(stream, edit, kinds.userEdit)
    if (data.length < 20) throw new Unreadable()
    if (document < 0) document = data.readUInt32LE(16)
    rememberPlaces(places, recordAt(stream, data.readUInt32LE(12), kinds.places))
    const before = data.readUInt32LE(8)
    if (before >= edit) break
    edit = before
  }
  const partAt = (number: number): Buffer => {
    const at = places.get(number)
    return at === undefined ? stream.subarray(0, 0) : recordAt(stream, at, null)
  }
  return { document: partAt(document), partAt }
}

/** Each run of places says the number of its first part and how many there are; the newest save counts. */
const rememberPlaces = (places: Map<number, number>, runs: Buffer): void => {
  for (let at = 0; at + 4 <= runs.length;) {
    const head = runs.readUInt32LE(at)
    at += 4
    for (let number = head & 0xfffff, left = head >>> 20; left > 0 && at + 4 <= runs.length; number++, left--, at += 4)
      if (!places.has(number)) places.set(number, runs.readUInt32LE(at))
  }
}

/** The content of a record. Throws Unreadable when none of this kind stands there; null takes any kind. */
const recordAt = (stream: Buffer, at: number, kind: number | null): Buffer => {
  if (at + 8 > stream.length) throw new Unreadable()
  if (kind !== null && stream.readUInt16LE(at + 2) !== kind) throw new Unreadable()
  return stream.subarray(at + 8, at + 8 + stream.readUInt32LE(at + 4))
}
