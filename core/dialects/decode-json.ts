import { isUtf8 } from 'node:buffer'
import { BadRequest } from '../errors.ts'
import { readOrdered, readPlain, twice } from './json.ts'
import { type MemberTexts, memberTexts } from './json-text.ts'

/** A JSON text and how it is read. */
export interface Reading {
  /** Emptied once the text is decoded, so that both are not held at once. */
  bytes: Uint8Array
  /** `relayed` keeps the text of its members, so that they can go on as they came. */
  readonly form: 'plain' | 'ordered' | 'relayed'
  /** Elements at most. */
  readonly most: number
}

/** What a `relayed` text is read to. */
export interface Relayed {
  readonly value: unknown
  /** Null where the value has to be printed anew. */
  readonly members: MemberTexts | null
}

const textOf = (reading: Reading): string => {
  const { buffer, byteOffset, byteLength } = reading.bytes
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  reading.bytes = new Uint8Array()
  if (!isUtf8(bytes)) throw new BadRequest('The body is not UTF-8')
  return bytes.toString('utf8')
}

/** The value of a JSON text, or `Relayed`. Throws BadRequest for anything but UTF-8 JSON of at most `most` elements. */
export const decodeJson = (reading: Reading): unknown => {
  const text = textOf(reading)
  if (reading.form === 'ordered') return readOrdered(text, reading.most)
  const value = readPlain(text, reading.most)
  return reading.form === 'plain' ? value : ({ value, members: memberTexts(text, value, twice) } satisfies Relayed)
}
