import { hashing } from '#aead'
import { randomBytes } from '@noble/hashes/utils.js'
import { type Stored, boundKey, namedKey } from '../wire/binding.ts'
import { concat, same, utf8, fromHex, toHex } from '../wire/bytes.ts'
import { sealContent, sealLabel, sealWhole } from '../wire/file.ts'
import { cutBy, SealgateError } from './error.ts'
import type { FileRecord, SealedFile, UploadOptions } from './file-shapes.ts'
import type { FileContext, CheckedRecord } from './record-checks.ts'
import { formStream } from './form-stream.ts'
import { type RefusalFields, type SealParts, clockOf } from './send-sealed.ts'
import { type Sendable, type Source, countedBytes, joinedBytes, oneChunk, sourceOf } from './byte-source.ts'
import { clearRefusal } from './seal-request.ts'

/** In bytes: a longer file is sealed in chunks, so that no reader holds it whole. */
const chunked = 1024 * 1024

/** In bytes of UTF-8: a record has no place for the seal of a longer name. */
const mostName = 448

/** In hex, under keys derived from the file's key. */
const labelsOf = ({ name, mime }: Source, dek: Uint8Array) => ({
  encrypted_name: toHex(sealLabel(dek, 'name', name)),
  mime_type: toHex(sealLabel(dek, 'mime', mime)),
})

/** Seals a file, binds it to a new id and stores it. */
export const uploader = (
  { ask, keys, checks }: FileContext,
  sealParts: SealParts,
  opened: (checked: CheckedRecord) => SealedFile,
): ((file: Sendable, options?: UploadOptions) => Promise<SealedFile>) => {
  /** One try of an upload, with the facts that the record must repeat. */
  const send = async (source: Source, clientHash: Uint8Array, options: UploadOptions, now: number) => {
    const { signal = null } = options
    const [id, dek] = [keys.newId(now), boundKey()]
    const version = source.size > chunked ? '2' : '1'
    const [kid, wrapped_dek] = [keys.kid, keys.wrap(dek)]
    const fields = {
      file_id: id,
      client_hash: toHex(clientHash),
      incognito: String(options.incognito === true),
      kid,
      wrapped_dek,
      version,
      name_tag: keys.hash(utf8(`name\0${source.name}`)).slice(0, 32),
      ...labelsOf(source, dek),
      ...(options.type && { type_hint: options.type }),
    }
    const told = (sent: number) => options.onProgress?.(sent, source.size)
    const second = hashing()
    const plain = countedBytes(hashed(source.open(), second), told)
    const content = version === '2' ? sealContent(dek, plain) : oneChunk(sealWhole(dek, await joinedBytes(plain)))
    /** Null unless the whole content was sent. */
    let binding: string | null = null
    const behind = async (stored: Stored) => {
      // The binding would vouch for the content of the first reading.
      if (keys.hash(second.digest()) !== fields.client_hash) throw new SealgateError('changed')
      const record = { id, version, file_size: stored.size, kid, wrapped_dek }
      binding = keys.bind(record, { revision: 1, hash: stored.hash, clientHash })
      return { binding, ...(options.index && (await indexFields(sealParts, dek, keys.ragDek(), id, stored, signal))) }
    }
    const form = formStream(fields, content, behind, `sealed-${toHex(randomBytes(16))}`)
    const asking = { form, passing: 400, ...(signal && { signal }) }
    const answer = await ask.raw('POST', 'files/encrypted/upload', asking)
    const body: unknown = await answer.json().catch(cutBy(signal))
    return { id, answer, body, binding }
  }

  return async (file, options = {}) => {
    const source = sourceOf(file)
    if (utf8(source.name).length > mostName) throw new SealgateError('long_name')
    const clientHash = fromHex(keys.hash(await digestOf(source, options.signal)), 32)!
    // The enclave's keys are fetched and verified before a long content is sent.
    if (options.index) await sealParts(indexNames, {}, options.signal ?? null, true)
    let sent = await send(source, clientHash, options, Date.now())
    const clock = clockOf(sent.answer, sent.body as RefusalFields | null, 'file_id')
    if (clock !== null) sent = await send(source, clientHash, options, clock)
    if (!sent.answer.ok) throw overQuota(sent.answer, sent.body as RefusalFields | null) ?? clearRefusal(sent.answer)
    const { data: record } = sent.body as { data: FileRecord }
    const checked = await checks.check(record)
    const own = record.id === sent.id ? record.binding === sent.binding : isTwin(checked, clientHash)
    if (!own) throw new SealgateError('damaged')
    return opened(checked)
  }
}

/** Null for any other refusal. The gateway chooses the limit, so only its form is checked. */
const overQuota = ({ status }: Response, refusal: RefusalFields | null): SealgateError | null => {
  if (refusal?.log?.code !== 'over_quota') return null
  const quota = String(refusal.validator?.['quota'])
  return new SealgateError('over_quota', { status, detail: /^\d{1,16} (?:bytes|files)$/.test(quota) ? quota : null })
}

/** True when the binding of an older file vouches for the same plaintext. A file without a binding passes. */
const isTwin = ({ proof }: CheckedRecord, clientHash: Uint8Array): boolean =>
  proof === null || (proof.clientHash !== null && same(proof.clientHash, clientHash))

/** Names of the index route's fields, which are the older ones with underscores. */
const indexNames = { params: null, kid: 'enclave_kid', cipherText: 'cipher_text' }

/** The sealed keys of an indexing. The key of the file names the file. */
export const indexFields = async (
  sealParts: SealParts,
  dek: Uint8Array,
  ragDek: Uint8Array,
  fileId: string,
  stored: Stored | null,
  signal: AbortSignal | null,
  fresh = false,
): Promise<Readonly<Record<string, string>>> => {
  const parts = {
    encrypted_file_dek: { bytes: namedKey(dek, fileId, stored), nonce: 'file_nonce' },
    encrypted_rag_dek: { bytes: concat(ragDek, utf8(fileId)), nonce: 'rag_dek_nonce' },
  }
  const { body } = await sealParts(indexNames, parts, signal, fresh)
  return body as Readonly<Record<string, string>>
}

/** Passes the bytes on and hashes them. */
async function* hashed(parts: AsyncIterable<Uint8Array>, hash: ReturnType<typeof hashing>) {
  for await (const part of parts) {
    hash.update(part)
    yield part
  }
}

/** The hash comes before the upload, since the gateway compares it before it takes the content. */
const digestOf = async (source: Source, signal: AbortSignal | undefined): Promise<Uint8Array> => {
  const hash = hashing()
  for await (const part of source.open()) {
    signal?.throwIfAborted()
    hash.update(part)
  }
  return hash.digest()
}
