import { decodeBytes } from '../../shared/charset.ts'
import { unquoted } from './quoted-printable.ts'

/** A mail or a part of one. */
export type Entity = Readonly<ReturnType<typeof entityOf>>

/** In bytes: longer heads are cut. */
const mostHeads = 256 * 1024

/** Heads without a blank line behind them are an entity without a body. */
export const entityOf = (bytes: Buffer) => {
  const start = bytes.subarray(0, mostHeads).toString('latin1')
  const gap = /(^|\r?\n)\r?\n/.exec(start)
  const end = gap ? gap.index + gap[0].length : start.length
  const heads = headsOf(start.slice(0, gap?.index))
  const head = (name: string) => heads.get(name) ?? ''
  const [type, about] = valueOf(head('content-type'))
  const [disposition, file] = valueOf(head('content-disposition'))
  const body = bytes.subarray(end)
  const [coding] = valueOf(head('content-transfer-encoding'))
  return {
    /** The decoded value of a head; '' where there is none. */
    head: (name: string) => decodedWords(head(name)),
    /** In lower case, such as `text/plain`. */
    type: type || 'text/plain',
    charset: about.get('charset')?.text ?? '',
    boundary: about.get('boundary')?.text ?? '',
    /** The name of a file; '' where there is none. */
    name: nameOf(file.get('filename') ?? about.get('name')),
    isAttached: disposition === 'attachment',
    body,
    /** True when a transfer encoding stands between the body and its content. */
    isCoded: /^(base64|quoted-printable)$/.test(coding),
    /** The body without its transfer encoding. */
    content: () => uncoded(body, coding),
  }
}

/** The parts between the boundaries of a multipart entity. */
export const partsOf = ({ body, boundary }: Entity): readonly Entity[] => {
  if (boundary === '') return []
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  const parts: Entity[] = []
  let from = -1
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) {
    // RFC 2046 compares only the beginning of a line with the boundary.
    if (at > 0 && body[at - 1] !== 10) continue
    if (from >= 0) parts.push(entityOf(body.subarray(from, at)))
    const line = body.indexOf(10, at)
    const isLast = body.toString('latin1', at + mark.length, at + mark.length + 2) === '--'
    if (isLast || line < 0) return parts
    from = line + 1
  }
  if (from >= 0) parts.push(entityOf(body.subarray(from)))
  return parts
}

/** Heads by name in lower case, as Latin-1; the first of a name counts. */
const headsOf = (text: string): ReadonlyMap<string, string> => {
  const heads = new Map<string, string>()
  for (const line of text.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const [, name, value] = /^([\w-]{1,100}):(.*)$/s.exec(line) ?? []
    if (name !== undefined && !heads.has(name.toLowerCase())) heads.set(name.toLowerCase(), value!.trim())
  }
  return heads
}

/** A parameter of a head. */
interface Parameter {
  readonly text: string
  /** True for the form of RFC 2231, which names its charset: no further decoding follows. */
  readonly isDecoded: boolean
}

/** A part of a parameter such as `filename*0*=utf-8''Pr%C3%BC`. */
interface Piece {
  readonly place: number
  readonly isCoded: boolean
  readonly text: string
}

/** The value of a head in lower case without its comment, and its parameters. Of a parameter in both forms, that of RFC 2231 counts. */
const valueOf = (head: string): readonly [string, ReadonlyMap<string, Parameter>] => {
  const value = head.split(/[;(]/, 1)[0]!.trim().toLowerCase()
  const given = new Map<string, Parameter>()
  const parted = new Map<string, Piece[]>()
  const pattern = /;\s*([\w-]+)(?:\*(\d+))?(\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g
  for (const [, name, place, coded, quoted, bare] of head.matchAll(pattern)) {
    const key = name!.toLowerCase()
    const text = quoted?.replace(/\\(.)/g, '$1') ?? bare ?? ''
    if (place !== undefined || coded) {
      const pieces = parted.get(key) ?? []
      parted.set(key, pieces)
      pieces.push({ place: Number(place ?? 0), isCoded: coded !== '', text })
    } else if (!given.has(key)) given.set(key, { text, isDecoded: false })
  }
  for (const [key, pieces] of parted) given.set(key, joinedPieces(pieces))
  return [value, given]
}

/** The charset in the first piece counts for all: a character may be parted between two of them. */
const joinedPieces = (pieces: readonly Piece[]): Parameter => {
  const sorted = pieces.toSorted((one, other) => one.place - other.place)
  const joined = sorted.map(({ text, isCoded }) => (isCoded ? unescaped(text) : text)).join('')
  if (!pieces.some(({ isCoded }) => isCoded)) return { text: joined, isDecoded: false }
  const { isCoded, text } = sorted[0]!
  const [prefix = '', charset = ''] = (isCoded && /^([\w-]*)'[^'%]*'/.exec(text)) || []
  const bytes = Buffer.from(joined.slice(prefix.length), 'latin1')
  return { text: decodeBytes(bytes, charset && `text/plain;charset=${charset}`, 'text').text, isDecoded: true }
}

/** The bytes of `Pr%C3%BCfung`, as Latin-1. */
const unescaped = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))

/** Many programs write the words of RFC 2047 into a parameter, where no RFC has them. */
const nameOf = (parameter: Parameter | undefined): string =>
  parameter?.isDecoded ? parameter.text : decodedWords(parameter?.text ?? '')

/** Words such as `=?utf-8?Q?Gr=C3=BC=C3=9Fe?=`; bytes outside of them are decoded as text. */
const decodedWords = (head: string): string => {
  const plain = /[\x80-\xff]/.test(head) ? decodeBytes(Buffer.from(head, 'latin1'), '', 'text').text : head
  return plain
    .replace(/(=\?[^?]+\?[BQ]\?[^?]*\?=)\s+(?==\?)/gi, '$1')
    .replace(/(?:=\?[^?*]+(?:\*[^?]*)?\?[BQ]\?[^?]*\?=)+/gi, decodedRun)
}

/** Neighbouring words of one charset are one text: many programs part a character between two of them. */
const decodedRun = (run: string): string => {
  const texts: { readonly charset: string; readonly bytes: Buffer[] }[] = []
  for (const [, label = '', way = '', text = ''] of run.matchAll(/=\?([^?*]+)(?:\*[^?]*)?\?([BQ])\?([^?]*)\?=/gi)) {
    const bytes =
      way.toUpperCase() === 'B'
        ? Buffer.from(text, 'base64')
        : unquoted(Buffer.from(text.replaceAll('_', ' '), 'latin1'))
    const charset = label.toLowerCase()
    const last = texts.at(-1)
    if (last?.charset === charset) last.bytes.push(bytes)
    else texts.push({ charset, bytes: [bytes] })
  }
  return texts
    .map(({ charset, bytes }) => decodeBytes(Buffer.concat(bytes), `text/plain;charset=${charset}`, 'text').text)
    .join('')
}

/** Takes the transfer encoding of RFC 2045 away; other encodings leave the bytes as they are. */
const uncoded = (body: Buffer, coding: string): Buffer => {
  if (coding === 'base64') return Buffer.from(body.toString('latin1'), 'base64')
  return coding === 'quoted-printable' ? unquoted(body) : body
}
