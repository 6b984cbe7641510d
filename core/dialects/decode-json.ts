import { isUtf8 } from 'node:buffer'
import { BadRequest } from '../errors.ts'
import { readOrdered, readPlain } from './json.ts'

/** A JSON text and how it is read. */
export interface Reading {
  /** Emptied once the text is decoded, so that both are not held at once. */
  bytes: Uint8Array
  readonly form: 'plain' | 'ordered'
  /** Elements at most. */
  readonly most: number
}

const textOf = (reading: Reading): string => {
  const { buffer, byteOffset, byteLength } = reading.bytes
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  reading.bytes = new Uint8Array()
  if (!isUtf8(bytes)) throw new BadRequest('The body is not UTF-8')
  return bytes.toString('utf8')
}

/** The value of a JSON text. Throws BadRequest for anything but UTF-8 JSON of at most `most` elements. */
export const decodeJson = (reading: Reading): unknown => {
  const text = textOf(reading)
  return reading.form === 'ordered' ? readOrdered(text, reading.most) : readPlain(text, reading.most)
}
