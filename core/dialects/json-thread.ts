import { isUtf8 } from 'node:buffer'
import { parentPort } from 'node:worker_threads'
import { readOrdered, readPlain } from './json.ts'
import { BadRequest, type Validator } from '../errors.ts'

export interface Reading {
  /** Let go of when it is text. */
  bytes: Uint8Array
  readonly form: 'plain' | 'ordered'
  readonly most: number
}

/** An error loses its class on the way between threads: its constant words travel instead. */
export type Read =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly message: string; readonly validator: Validator | null }

const textOf = (reading: Reading): string => {
  const { buffer, byteOffset, byteLength } = reading.bytes
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  reading.bytes = new Uint8Array()
  if (!isUtf8(bytes)) throw new BadRequest('The body is not UTF-8')
  return bytes.toString('utf8')
}

const read = (reading: Reading): Read => {
  const { form, most } = reading
  try {
    const text = textOf(reading)
    return { kind: 'value', value: form === 'ordered' ? readOrdered(text, most) : readPlain(text, most) }
  } catch (error) {
    const { message, validator } = error instanceof BadRequest ? error : new BadRequest('Malformed JSON')
    return { kind: 'refused', message, validator }
  }
}

parentPort!.on('message', (reading: Reading) => parentPort!.postMessage(read(reading)))
