import { randomBytes } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import { type JsonObject, isJsonObject } from '../../core/dialects/json-object.ts'
import { type JsonScan, backslash, colon, isSpace, longText, malformed, quote } from '../../core/dialects/json-scan.ts'
import { parsed } from '../../core/dialects/json-pieces.ts'
import { keptText, printKept } from '../../core/dialects/json-text.ts'
import { BadRequest } from '../../core/errors.ts'
import { objectIn } from './backend.ts'

/** Long texts of a JSON as it writes them, with their quotes, by what they mean. */
export type LongTexts = ReadonlyMap<string, Buffer>

export const noTexts: LongTexts = new Map()

/** Stands for a long text while the rest is parsed. It is random, so no text of a caller or a backend begins with it. */
const mark = randomBytes(18).toString('base64url')
const quotedMark = `"${mark}"`

/** Characters below a space stand in no JSON text. */
const spoken = /^[^\0-\x1f]*$/

/** Characters that a long text has at least: each may be written as six. */
const shortest = longText / 6

/** A text that JSON writes without an escape, such as one that the gateway sealed. */
const unescaped = /^[\w.-]*$/

/** Lists and objects within each other that are looked through for long texts. */
const deepest = 8

/** The bytes of a JSON, and where each long text begins and ends. */
type Places = Pick<JsonScan, 'bytes'> & { readonly texts: readonly number[] }

/** What a JSON says, as its long texts are decoded once and by themselves. */
export interface ReadAround<S extends Places = JsonScan> {
  readonly scan: S
  readonly value: unknown
  /** In the order of the scan. */
  readonly found: readonly string[]
}

/** Throws BadRequest for what is no JSON. */
export const readAround = <S extends Places>(scan: S): ReadAround<S> => {
  const { bytes, texts } = scan
  const found: string[] = []
  let [rest, from, slash] = ['', 0, 0]
  for (let at = 0; at < texts.length; at += 2) {
    const [begin, end] = [texts[at]!, texts[at + 1]!]
    if (slash >= 0 && slash < begin) slash = bytes.indexOf(backslash, begin)
    const isPlain = slash < 0 || slash >= end
    const text = isPlain ? bytes.toString('utf8', begin + 1, end - 1) : parsed(bytes.toString('utf8', begin, end))
    if (isPlain && !spoken.test(text as string)) throw malformed()
    rest += `${bytes.toString('utf8', from, begin)}"${mark}${found.length}"`
    from = end
    found.push(text as string)
  }
  const value = parsed(rest + bytes.toString('utf8', from))
  return { scan, value: found.length === 0 ? value : filled(value, found), found }
}

/** A JSON object of a backend, with its long texts. Throws UpstreamFailed for any other answer. */
export const objectAround = (
  bytes: Buffer,
  status: number,
): { readonly value: JsonObject; readonly texts: LongTexts } => {
  const read = isUtf8(bytes) ? answerAround(bytes) : null
  return read !== null && isJsonObject(read.value)
    ? { value: read.value, texts: longTexts(read) }
    : { value: objectIn(bytes.toString('utf8'), status), texts: noTexts }
}

/** Null for what is no JSON. */
const answerAround = (bytes: Buffer): ReadAround<Places> | null => {
  try {
    return readAround({ bytes, texts: placesIn(bytes) })
  } catch (fault) {
    if (fault instanceof BadRequest) return null
    throw fault
  }
}

/** Where the long texts of a JSON begin and end: the places of a scan, found natively. */
const placesIn = (bytes: Buffer): readonly number[] => {
  const places: number[] = []
  for (let begin = bytes.indexOf(quote); begin >= 0;) {
    const end = endOf(bytes, begin + 1)
    if (end === 0) throw malformed()
    let behind = end
    while (end - begin >= longText && isSpace(bytes[behind])) behind++
    if (end - begin >= longText && bytes[behind] !== colon) places.push(begin, end)
    begin = bytes.indexOf(quote, end)
  }
  return places
}

/** Behind the quote that ends the text; 0 where none does. */
const endOf = (bytes: Buffer, from: number): number => {
  for (let end = bytes.indexOf(quote, from); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let slashes = end
    while (slashes > from && bytes[slashes - 1] === backslash) slashes--
    if ((end - slashes) % 2 === 0) return end + 1
  }
  return 0
}

/** The long texts for a printer. */
export const longTexts = ({ scan: { bytes, texts }, found }: ReadAround<Places>): LongTexts =>
  found.length === 0
    ? noTexts
    : new Map(found.map((text, at) => [text, bytes.subarray(texts[2 * at], texts[2 * at + 1])]))

/** The value with the texts in the places of their marks. */
const filled = (value: unknown, texts: readonly string[]): unknown => {
  if (typeof value === 'string') return value.startsWith(mark) ? texts[Number(value.slice(mark.length))] : value
  const members = value as Members
  for (const name in members) members[name] = filled(members[name], texts)
  return value
}

/** The JSON of a whole answer, with its long texts where they are known. */
export const printWhole = (value: unknown, texts: LongTexts | undefined): string | Buffer =>
  texts === undefined ? printKept(value) : printAround(value, texts)

/** The JSON of a value, with long texts as they were written before. */
export const printAround = (value: unknown, texts: LongTexts): Buffer => {
  const written: Buffer[] = []
  const pieces = (JSON.stringify(marked(value, texts, written, 0)) ?? 'null').split(quotedMark)
  let length = 0
  for (const piece of pieces) length += Buffer.byteLength(piece)
  for (const text of written) length += text.length
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (let piece = 0; piece < pieces.length; piece++) {
    at += bytes.write(pieces[piece]!, at)
    at += written[piece]?.copy(bytes, at) ?? 0
  }
  return bytes
}

/** The value with marks in the places of what goes on as it was written; nothing else is copied. */
const marked = (value: unknown, texts: LongTexts, written: Buffer[], depth: number): unknown => {
  const own = writtenOf(value, texts)
  if (own !== undefined) {
    written.push(own)
    return mark
  }
  if (typeof value !== 'object' || value === null || depth === deepest) return value
  let copy: Members | null = null
  for (const name in value) {
    const member = (value as Members)[name]
    if (typeof member !== 'object' && (typeof member !== 'string' || member.length < shortest)) continue
    const next = marked(member, texts, written, depth + 1)
    if (next !== member) (copy ??= copied(value))[name] = next
  }
  return copy ?? value
}

type Members = Record<string, unknown>

const copied = (value: object): Members => (Array.isArray(value) ? [...value] : { ...value }) as Members

const writtenOf = (value: unknown, texts: LongTexts): Buffer | undefined => {
  if (typeof value !== 'string') {
    const kept = keptText(value)
    return kept === undefined ? undefined : Buffer.from(kept)
  }
  if (value.length < longText || !unescaped.test(value)) return texts.get(value)
  const quoted = Buffer.alloc(value.length + 2, '"')
  quoted.write(value, 1, 'latin1')
  return quoted
}
