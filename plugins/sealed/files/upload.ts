import * as v from 'valibot'
import type { FlatPart } from '../../shared/flat-json.ts'
import { BadRequest } from '../../../core/errors.ts'
import { checked } from '../../../core/validate.ts'
import { hex as sealed } from '../../shared/sealed-hex.ts'
import { fileTypes } from './record.ts'

/** The field of the sealed content. */
const big = 'encrypted_content'

/**
 * Receives an upload with its fields in any order. `known` examines the fields before the content and can declare it a
 * duplicate, which is skipped. The content is durable when the promise resolves; when it rejects, `drop` has removed
 * the content. The size of the stored content is in bytes, and null when the content was skipped.
 */
export const receiveUpload = async (
  parts: AsyncIterable<FlatPart>,
  put: (bytes: AsyncIterable<Uint8Array>) => Promise<{ readonly size: number }>,
  drop: () => Promise<void>,
  known: (fields: Readonly<Record<string, unknown>>) => Promise<boolean>,
  most: number,
) => {
  const fields: Record<string, unknown> = Object.create(null)
  const source = parts[Symbol.asyncIterator]()
  let held: FlatPart | null = null
  let size: number | null = null
  let came = false

  /** The pieces of the content; the next part after them is kept for the fields. */
  async function* content(first: Uint8Array) {
    let length = 0
    for (let piece = first; ;) {
      length += piece.length
      if (length > most) throw tooLarge(most)
      if (piece.length > 0) yield piece
      const step = await source.next()
      if (step.done) break
      if (!('piece' in step.value)) {
        held = step.value
        break
      }
      piece = step.value.piece
    }
    if (length === 0) throw empty()
  }

  try {
    for (;;) {
      const step: IteratorResult<FlatPart> = held === null ? await source.next() : { value: held }
      held = null
      if (step.done) break
      if ('value' in step.value) {
        // An empty text counts as an absent field.
        if (step.value.value !== '') fields[step.value.name] = step.value.value
        continue
      }
      came = true
      const bytes = content(step.value.piece)
      if (await known(fields)) for await (const _ of bytes);
      else size = (await put(bytes)).size
    }
  } catch (error) {
    if (size !== null) await drop()
    throw error
  } finally {
    await source.return?.()
  }
  if (!came) checked(WithoutContent, fields)
  return { fields, size }
}

const empty = () => new BadRequest('Validation failed', { validator: { [big]: 'Expected sealed content' } })
const tooLarge = (most: number) =>
  new BadRequest(`The file may have ${most} bytes at most`, { code: 'request_too_large' })

/** Accepts both cases and stores lower case. */
const hex = (most: number) =>
  v.pipe(v.string(), v.maxLength(most), v.regex(/^(?:[0-9a-f]{2}){1,512}$/i, 'lower-case hex'), v.toLowerCase())

/** Booleans and numbers are text in a form. */
const flag = v.union([
  v.boolean(),
  v.pipe(
    v.picklist(['true', 'false']),
    v.transform((word) => word === 'true'),
  ),
])
const number = v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,3}$/, 'a number'), v.transform(Number))])

const typeHint = 'What kind of file it is, in the clear: the list filters by it. general when absent'
const nameTag =
  'A tag of the name that the client makes with a key of its own, such as an HMAC: the list finds the file when `search` has it'

/** The gateway checks forms alone; what the fields hold is sealed or opaque. */
export const UploadFields = v.object({
  /** The client's chosen id; the field must come before the content. */
  file_id: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(100)))),
  encrypted_name: hex(1024),
  client_hash: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,256}$/, 'up to 256 printable characters')),
  kid: v.pipe(v.string(), v.regex(/^[\w.:-]{1,128}$/, 'a key identifier')),
  wrapped_dek: hex(1024),
  mime_type: hex(1024),
  incognito: v.optional(v.nullable(flag)),
  version: v.optional(v.nullable(v.pipe(number, v.integer(), v.minValue(1), v.maxValue(2)))),
  type_hint: v.optional(v.nullable(v.pipe(v.picklist(fileTypes), v.description(typeHint)))),
  /** The client's binding, opaque to the store. */
  binding: v.optional(
    v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{202}$/i, '101 bytes in lower-case hex'), v.toLowerCase())),
  ),
  name_tag: v.optional(v.nullable(v.pipe(hex(128), v.description(nameTag)))),
  encrypted_rag_dek: v.optional(v.nullable(sealed.key)),
  rag_dek_nonce: v.optional(v.nullable(sealed.nonce)),
  cipher_text: v.optional(v.nullable(sealed.lasting)),
  enclave_kid: sealed.enclaveKid,
  encrypted_file_dek: v.optional(v.nullable(sealed.key)),
  file_nonce: v.optional(v.nullable(sealed.nonce)),
})

export type UploadFields = v.InferOutput<typeof UploadFields>

/** An upload without content, of which other fields may be wrong too. */
const WithoutContent = v.object({
  [big]: v.optional(
    v.pipe(
      v.unknown(),
      v.check(() => false, 'sealed content'),
    ),
    null,
  ),
  ...UploadFields.entries,
})

/** Fields that come together or not at all. */
const forRetrieval = ['encrypted_rag_dek', 'rag_dek_nonce', 'cipher_text', 'encrypted_file_dek', 'file_nonce'] as const

/** Sealed keys for an indexing, in hex. Only the enclave opens them. */
export type IndexKeys = Readonly<Record<(typeof forRetrieval)[number], string>> & {
  readonly enclave_kid?: string | null | undefined
}

/** The keys for an immediate indexing; all of them or null. */
export const indexKeysOf = (fields: UploadFields): IndexKeys | null => {
  const given = forRetrieval.filter((name) => fields[name] != null)
  if (given.length === 0) return null
  const missing = forRetrieval.find((name) => fields[name] == null)
  if (missing !== undefined)
    throw new BadRequest('Validation failed', { validator: { [missing]: 'Expected with the other retrieval fields' } })
  const keys = Object.fromEntries(forRetrieval.map((name) => [name, fields[name]])) as IndexKeys
  return { ...keys, enclave_kid: fields.enclave_kid }
}
