import { decodeBytes } from '../../shared/charset.ts'
import { unquoted } from './quoted-printable.ts'

/** A mail or a part of one. */
export type Entity = Readonly<ReturnType<typeof entityOf>>

/** In bytes: longer heads are cut. */
const mostHeads = 256 * 1024

/** Heads without a blank line behind them are an entity without a body. */
export const entityOf = (bytes: Buffer) => {
  const start = bytes.subarray(0, mostHeads).toString('latin1')
  const gap = /\r?\n\r?\n/.exec(/^\r?\n/.test(start) ? `\n${start}` : start)
  const end = gap ? gap.index + gap[0].length : start.length
  const heads = headsOf(start.slice(0, gap?.index))
  const head = (name: string) => heads.get(name) ?? ''
  const [type, about] = valueOf(head('content-type'))
  const [disposition, file] = valueOf(head('content-disposition'))
  const body = bytes.subarray(end)
  const coding = head('content-transfer-encoding').trim().toLowerCase()
  return {
    /** The decoded value of a head; '' where there is none. */
    head: (name: string) => decodedWords(head(name)),
    /** In lower case, such as `text/plain`. */
    type: type || 'text/plain',
    charset: about.get('charset') ?? '',
    boundary: about.get('boundary') ?? '',
    /** The name of a file; '' where there is none. */
    name: decodedWords(file.get('filename') ?? about.get('name') ?? ''),
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

/** The value of a head in lower case, and its parameters. A name in pieces or with a language is put together. */
const valueOf = (head: string): readonly [string, ReadonlyMap<string, string>] => {
  const value = head.split(';')[0]!.trim().toLowerCase()
  const given = new Map<string, string>()
  const pattern = /;\s*([\w-]+)(?:\*\d+)?(\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g
  for (const [, name, isCoded, quoted, bare] of head.matchAll(pattern)) {
    const key = name!.toLowerCase()
    const text = quoted?.replace(/\\(.)/g, '$1') ?? bare ?? ''
    given.set(key, (given.get(key) ?? '') + (isCoded ? unescaped(text) : text))
  }
  return [value, given]
}

/** A parameter such as `utf-8''Pr%C3%BCfung`. */
const unescaped = (text: string): string => {
  const [, charset, rest] = /^([\w-]*)'[^']*'(.*)$/s.exec(text) ?? [null, '', text]
  const bytes = Buffer.from(
    rest!.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  )
  return decodeBytes(bytes, charset ? `text/plain;charset=${charset}` : '', 'text').text
}

/** Words such as `=?utf-8?Q?Gr=C3=BC=C3=9Fe?=`; bytes outside of them are decoded as text. */
const decodedWords = (head: string): string => {
  const plain = /[\x80-\xff]/.test(head) ? decodeBytes(Buffer.from(head, 'latin1'), '', 'text').text : head
  return plain
    .replace(/(=\?[^?]+\?[BQ]\?[^?]*\?=)\s+(?==\?)/gi, '$1')
    .replace(/=\?([^?*]+)(?:\*[^?]*)?\?([BQ])\?([^?]*)\?=/gi, (_, charset: string, way: string, text: string) => {
      const bytes =
        way.toUpperCase() === 'B'
          ? Buffer.from(text, 'base64')
          : unquoted(Buffer.from(text.replaceAll('_', ' '), 'latin1'))
      return decodeBytes(bytes, `text/plain;charset=${charset}`, 'text').text
    })
}

/** Takes the transfer encoding of RFC 2045 away; other encodings leave the bytes as they are. */
const uncoded = (body: Buffer, coding: string): Buffer => {
  if (coding === 'base64') return Buffer.from(body.toString('latin1'), 'base64')
  return coding === 'quoted-printable' ? unquoted(body) : body
}
