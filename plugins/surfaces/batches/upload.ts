import { BadRequest, TooLarge } from '../../../core/errors.ts'
import { refuseMember } from '../../shared/members.ts'
import { uuid7 } from '../../../core/uuid7.ts'
import type { FlatPart } from '../../shared/flat-json.ts'
import type { Given } from './needs.ts'

/** Bytes of texts that are handed on at once. */
const handedBytes = 32 * 1024

/** The same texts in larger pieces: each piece is a write of its own. */
export async function* gathered(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let held: string[] = []
  let length = 0
  for await (const text of texts) {
    held.push(text)
    length += text.length
    if (length < handedBytes) continue
    yield Buffer.from(held.join(''))
    held = []
    length = 0
  }
  if (length > 0) yield Buffer.from(held.join(''))
}

/** The first text that was read already, and the rest. */
export async function* behind(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first
  yield* rest
}

/** A body of at most `most` bytes. Throws TooLarge beyond. */
export async function* bounded(source: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const piece of source) {
    length += piece.length
    if (length > most) throw new TooLarge(`The body may have ${most} bytes at most`, { code: 'request_too_large' })
    yield piece
  }
}

/** Fields of an upload beside the file, with what the vendor takes in them. */
const fields: Readonly<Record<string, RegExp>> = {
  purpose: /^batch$/,
  'expires_after[anchor]': /^created_at$/,
  'expires_after[seconds]': /^\d{1,9}$/,
}

/** The file of a form as it comes in. The other fields are kept in `told`; they may stand before the file and behind it. */
export async function* fileIn(parts: AsyncIterable<FlatPart>, told: Map<string, string>): AsyncGenerator<Buffer> {
  let isThere = false
  for await (const part of parts) {
    if ('piece' in part) {
      isThere = true
      yield part.piece
      continue
    }
    const [name, value] = [part.name, String(part.value)]
    const form = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (form === undefined) refuseMember(name, 'Unknown field')
    else if (!form.test(value)) refuseMember(name, name === 'purpose' ? 'Expected "batch"' : 'Expected another value')
    told.set(name, value)
  }
  if (!isThere) refuseMember('file', 'Required')
  if (!told.has('purpose')) throw new BadRequest('Validation failed', { validator: { purpose: 'Required' } })
}

/** The form for the vendor, whose file comes in pieces. `told` is read at its end. */
export const vendorForm = (
  { clock, random }: Given,
  file: AsyncIterable<Buffer>,
  told: ReadonlyMap<string, string>,
) => {
  const boundary = `sealgate-${uuid7(clock, random)}`
  const field = (name: string, more = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    async *stream(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(
        `${field('purpose')}\r\nbatch\r\n${field('file', '; filename="batch.jsonl"')}content-type: application/jsonl\r\n\r\n`,
      )
      yield* file
      const rest = [...told]
        .filter(([name]) => name !== 'purpose')
        .map(([name, value]) => `${field(name)}\r\n${value}\r\n`)
      yield Buffer.from(`\r\n${rest.join('')}--${boundary}--\r\n`)
    },
  }
}
