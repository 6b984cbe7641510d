import { BadRequest, NotFound, Unconfigured, Unreadable } from '../errors.ts'
import type { SealedReply, Shelf } from '../ports/enclave.ts'
import type { MadeFile, Tool } from '../ports/tool.ts'
import { checks } from '../wire/body.ts'
import { utf8 } from '../wire/bytes.ts'
import { sealContent, sealLabel } from '../wire/file.ts'
import { toHex } from '../wire/hex.ts'
import { Refusal, parameters } from './catalogue.ts'
import type { Opened, Outer, Sealed } from './open.ts'
import { sealedReply, silent } from './reply.ts'
import type { Search } from './retrieval.ts'
import { keyOf, openStored, shelved } from './stored.ts'

const simple: Outer = {
  cipherText: { field: 'cipherText', check: checks.lasting },
  params: { field: 'encryptedParams', nonce: 'nonce' },
  parts: {},
  kid: 'enclaveKid',
}

const withFile: Outer = { ...simple, parts: { encryptedFileDek: { nonce: 'fileNonce', check: checks.key } } }

/** The four variants of the outer fields. */
export const outers: Readonly<Record<Tool['kind'], Outer>> = {
  simple,
  'reads-file': withFile,
  'makes-file': withFile,
  retrieval: { ...simple, parts: { encryptedRagDek: { nonce: 'ragDekNonce', check: checks.key } } },
}

/** Bytes of JSON that a tool may answer with. */
const mostResult = 16 * 1024 * 1024
/** Bytes that a tool may make. */
const mostMade = 100 * 1024 * 1024

export interface Bench {
  readonly shelf: Shelf
  readonly search: Search
  /** Bytes of the sealed content that may be opened. */
  readonly mostFile: number
}

/** Decrypted parameters → tool → one sealed answer, or a sealed file in the caller's store. */
export const runTool = async (
  { params: given, parts, secret }: Opened,
  outer: Sealed,
  tool: Tool,
  { shelf, search, mostFile }: Bench,
  signal: AbortSignal,
): Promise<SealedReply> => {
  const params = parameters(tool.params, given)
  const sealed = (result: unknown): SealedReply => {
    if (JSON.stringify(result).length > mostResult) throw new Refusal('too_large')
    return sealedReply(secret, result, silent)
  }
  try {
    switch (tool.kind) {
      case 'simple':
        return sealed(await tool.run(params, signal))
      case 'reads-file': {
        const id = String((params as { fileId?: unknown }).fileId)
        const dek = keyOf(parts['encryptedFileDek']!, 'encryptedFileDek', id)
        const file = await openStored(shelf, id, await shelved(shelf, id), dek, mostFile, signal)
        return sealed(await tool.run(params, signal, file))
      }
      case 'retrieval': {
        const ragDek = keyOf(parts['encryptedRagDek']!, 'encryptedRagDek', null)
        return sealed(await tool.run(params, signal, (query, ids) => search(shelf, ragDek, query, ids ?? null, signal)))
      }
      case 'makes-file': {
        const dek = keyOf(parts['encryptedFileDek']!, 'encryptedFileDek', null)
        return await keep(await tool.run(params, signal), dek, outer, shelf, signal)
      }
    }
  } catch (error) {
    throw refused(error)
  }
}

/** Within a tool, what is missing is the file, and what is wrong are its parameters. */
const refused = (error: unknown): unknown => {
  if (error instanceof Unreadable || error instanceof Unconfigured) return error
  if (error instanceof NotFound) return new Refusal('unknown_file')
  if (error instanceof BadRequest)
    return new Refusal('invalid_parameters', Object.keys(error.validator ?? {})[0]?.slice(0, 100) ?? null)
  return error
}

const fit = (text: string, most: number): string => {
  let it = text
  while (utf8(it).length > most) it = it.slice(0, -1)
  return it
}

const keep = async (
  { name, mime, bytes }: MadeFile,
  dek: Uint8Array,
  outer: Sealed,
  shelf: Shelf,
  signal: AbortSignal,
): Promise<SealedReply> => {
  if (bytes.length > mostMade) throw new Refusal('too_large')
  const labels = {
    kid: String(outer['kid']),
    wrappedDek: String(outer['wrappedDek']),
    name: toHex(sealLabel(dek, 'name', fit(name, 400))),
    mime: toHex(sealLabel(dek, 'mime', fit(mime, 120))),
  }
  const kept = await shelf.keep(labels, sealContent(dek, once(bytes)), signal)
  const body = {
    fileId: kept.fileId,
    fileName: labels.name,
    fileSize: kept.size,
    handle: kept.fileId,
    mimeType: labels.mime,
    s3Path: kept.path,
    success: true,
    message: 'The file was made',
  }
  return { kind: 'body', status: 200, body, failure: null, trailer: silent }
}

async function* once(bytes: Uint8Array) {
  yield bytes
}
