import { toHex } from '../wire/bytes.ts'
import { demand, refuse } from './reasons.ts'

/** One DER value with a definite, minimal length and a low tag number. */
export interface Item {
  readonly tag: number
  readonly content: Uint8Array
  /** Tag, length and content. */
  readonly whole: Uint8Array
}

/** Tags of X.690 that certificates use; another tag is refused where it stands. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** The context-specific constructed tag with this number. */
export const contextTag = (number: number): number => 0xa0 | number

/** Reads consecutive items. Every method throws `evidence_malformed`. */
export interface Cursor {
  /** The next item. Throws when it has another tag. */
  take(tag: number): Item
  /** The next item when it has this tag; null otherwise. */
  maybe(tag: number): Item | null
  /** The next item with any tag. */
  any(): Item
  /** True while items are left. */
  more(): boolean
  /** Throws when an item follows. */
  end(): void
}

const malformed = (what: string): never => refuse('evidence_malformed', `der ${what}`)

/** A length has one form, and three bytes at most: a second spelling could hide bytes from one of two readers. */
const readItem = (bytes: Uint8Array, at: number): Item => {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag === undefined || first === undefined) return malformed('cut')
  if ((tag & 0x1f) === 0x1f) return malformed('tag')
  let length = first
  let start = at + 2
  if (first >= 0x80) {
    const count = first & 0x7f
    if (count < 1 || count > 3 || start + count > bytes.length) return malformed('length')
    length = 0
    for (const byte of bytes.subarray(start, start + count)) length = length * 256 + byte
    start += count
    const least = count === 1 ? 0x80 : 256 ** (count - 1)
    if (length < least) return malformed('length')
  }
  if (start + length > bytes.length) return malformed('cut')
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) }
}

/** Begins at the first byte. Items are views into these bytes, not copies. */
export const cursor = (bytes: Uint8Array): Cursor => {
  let at = 0
  const any = (): Item => {
    const item = readItem(bytes, at)
    at += item.whole.length
    return item
  }
  return {
    any,
    take(tag) {
      if (bytes[at] !== tag) return malformed('tag')
      return any()
    },
    maybe: (tag) => (bytes[at] === tag ? any() : null),
    more: () => at < bytes.length,
    end: () => demand(at === bytes.length, 'evidence_malformed', 'der trailing bytes'),
  }
}

/** Reads bytes that are exactly one item. */
export const onlyItem = (bytes: Uint8Array, tag: number): Item => {
  const all = cursor(bytes)
  const item = all.take(tag)
  all.end()
  return item
}

/** Big-endian bytes of a minimal, non-negative integer, without the leading zero. */
export const unsignedBytes = (item: Item): Uint8Array => {
  const { content } = item
  const [first, second] = content
  if (first === undefined || first >= 0x80) return malformed('integer')
  if (first !== 0 || content.length === 1) return content
  if (second! < 0x80) return malformed('integer')
  return content.subarray(1)
}

/** An integer up to 2^31 - 1. */
export const smallInteger = (item: Item): number => {
  const bytes = unsignedBytes(item)
  if (bytes.length > 4) return malformed('integer')
  const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0)
  return value <= 0x7fffffff ? value : malformed('integer')
}

/** The content of an object identifier, in hex. */
export const oidOf = (item: Item): string => {
  const { content } = item
  if (content.length === 0 || content.length > 32 || content.at(-1)! >= 0x80) return malformed('oid')
  // A subidentifier that begins with 0x80 has a shorter form.
  const padded = content.some((byte, at) => byte === 0x80 && (at === 0 || content[at - 1]! < 0x80))
  return padded ? malformed('oid') : toHex(content)
}

/** DER has one byte for each value: 00 and FF. */
export const booleanOf = ({ content }: Item): boolean => {
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) return malformed('boolean')
  return content[0] === 0xff
}

/** The bytes of a bit string without unused bits. */
export const octetsOf = ({ content }: Item): Uint8Array =>
  content[0] === 0 ? content.subarray(1) : malformed('bit string')

/** UTCTime has two digits for the year; RFC 5280 reads them as 1950 to 2049. */
const times: Readonly<Record<number, RegExp>> = {
  [tags.utcTime]: /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/,
  [tags.generalizedTime]: /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/,
}

/** A UTCTime or GeneralizedTime, in ms. */
export const timeOf = ({ tag, content }: Item): number => {
  const match = content.length <= 15 ? times[tag]?.exec(String.fromCharCode(...content)) : null
  if (!match) return malformed('time')
  const [written, month, day, hour, minute, second] = match.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const year = tag === tags.utcTime ? written + (written < 50 ? 2000 : 1900) : written
  const text = `${String(year).padStart(4, '0')}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6]}.000Z`
  const time = Date.UTC(year, month - 1, day, hour, minute, second)
  // An impossible day, such as 31 April, is returned as another day.
  return year >= 1950 && new Date(time).toISOString() === text ? time : malformed('time')
}
