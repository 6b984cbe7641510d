import { createHash } from 'node:crypto'
import { BadRequest, NotFound, Unconfigured, Unreadable } from '../../../core/errors.ts'
import type { SealedReply, EnclaveFiles } from '../../../core/ports/enclave.ts'
import type { MadeFile, SearchBounds, Tool } from '../../../core/ports/tool.ts'
import { checks, lengths } from '../wire/body.ts'
import { utf8, toHex } from '../wire/bytes.ts'
import { sealContent, sealLabel } from '../wire/file.ts'
import { Refusal } from './refusals.ts'
import type { OpenedRequest, OuterFields, Sealed } from './open.ts'
import { emptyTrailer, jsonBytes, printedReply, sealedMembers } from './reply.ts'
import type { Search } from './retrieval.ts'
import { type ReserveMemory, keyOf, recordOf, withStoredFile } from './open-stored-file.ts'
import { toolParams } from './tool-params.ts'

const simple: OuterFields = {
  cipherText: { field: 'cipherText', check: checks.lasting },
  params: { field: 'encryptedParams', nonce: 'nonce' },
  parts: {},
  kid: 'enclaveKid',
  big: { field: 'encryptedParams', most: lengths.params + 16 },
}

const withFile: OuterFields = { ...simple, parts: { encryptedFileDek: { nonce: 'fileNonce', check: checks.key } } }

/** The outer fields of each kind of tool. */
const outers: Readonly<Record<Tool['kind'], OuterFields>> = {
  simple,
  'reads-file': withFile,
  'makes-file': { ...withFile, open: { kid: checks.kekId, wrappedDek: checks.wrapped } },
  retrieval: { ...simple, parts: { encryptedRagDek: { nonce: 'ragDekNonce', check: checks.key } } },
}

/** In bytes: the limit of sealed parameters when a tool names none. */
const usualParams = 16 * 1024

/** A tool's kind decides the fields of its requests. */
export const outerOf = ({ kind, mostParams = usualParams }: Tool): OuterFields => ({ ...outers[kind], mostParams })

/** In bytes: the longest JSON result of a tool. */
const mostResult = 16 * 1024 * 1024
/** In bytes: the largest file that a tool may make. */
const mostMade = 100 * 1024 * 1024

/** What tools get from the enclave. */
export interface Bench {
  readonly enclaveFiles: EnclaveFiles
  readonly search: Search
  /** In bytes: the largest sealed content that may be opened. */
  readonly mostFile: number
  readonly makeRoom: ReserveMemory
}

/** Decrypted parameters → tool → one sealed answer, or a sealed file in the caller's store. */
export const runTool = async (
  opened: OpenedRequest,
  outer: Sealed,
  tool: Tool,
  { enclaveFiles, search, mostFile: most, makeRoom }: Bench,
  signal: AbortSignal,
): Promise<SealedReply> => {
  const { parts } = opened
  const params = toolParams(tool.params, opened.params)
  const sealed = async (result: unknown): Promise<SealedReply> => {
    const json = await jsonBytes(result ?? null)
    if (json.length > mostResult) throw new Refusal('too_large')
    return printedReply(opened, json, emptyTrailer)
  }
  try {
    switch (tool.kind) {
      case 'simple':
        return await sealed(await tool.run(params, signal))
      case 'reads-file': {
        const id = String((params as { fileId?: unknown }).fileId)
        const dek = keyOf(parts['encryptedFileDek'], 'encryptedFileDek', id)
        const file = { enclaveFiles, makeRoom, id, record: await recordOf(enclaveFiles, id), dek, most }
        return await sealed(await withStoredFile(file, signal, (opened) => tool.run(params, signal, opened)))
      }
      case 'retrieval': {
        const { key: ragDek } = keyOf(parts['encryptedRagDek'], 'encryptedRagDek', null)
        const searched = (query: string, ids?: readonly string[], bounds?: SearchBounds) =>
          search(enclaveFiles, ragDek, { ...bounds, query, ids: ids ?? null }, signal)
        return await sealed(await tool.run(params, signal, searched))
      }
      case 'makes-file': {
        const { key } = keyOf(parts['encryptedFileDek'], 'encryptedFileDek', null)
        return await keep(opened, await tool.run(params, signal), key, outer, enclaveFiles, signal)
      }
    }
  } catch (error) {
    throw refused(error)
  }
}

/** Inside a tool, NotFound means the file, and BadRequest means the parameters. */
const refused = (error: unknown): unknown => {
  if (error instanceof Unreadable || error instanceof Unconfigured) return error
  if (error instanceof NotFound) return new Refusal('unknown_file')
  if (error instanceof BadRequest && error.code !== null) return error
  if (error instanceof BadRequest)
    return new Refusal('invalid_parameters', Object.keys(error.validator ?? {})[0]?.slice(0, 100) ?? null)
  return error
}

/** Cuts a label to so many bytes of UTF-8, since sealed labels have a limit in the store. */
const fit = (text: string, most: number): string => {
  let rest = text
  while (utf8(rest).length > most) rest = rest.slice(0, -1)
  return rest
}

/** Stores the file that a tool made. The sealed answer describes the stored file when the request asks for it. */
const keep = async (
  asker: OpenedRequest,
  { name, mime, bytes }: MadeFile,
  dek: Uint8Array,
  outer: Sealed,
  enclaveFiles: EnclaveFiles,
  signal: AbortSignal,
): Promise<SealedReply> => {
  if (bytes.length > mostMade) throw new Refusal('too_large')
  const labels = {
    ...(outer['fileId'] !== undefined && { id: String(outer['fileId']) }),
    kid: String(outer['kid']),
    wrappedDek: String(outer['wrappedDek']).toLowerCase(),
    name: toHex(sealLabel(dek, 'name', fit(name, 400))),
    mime: toHex(sealLabel(dek, 'mime', fit(mime, 120))),
  }
  const hash = createHash('sha256')
  let size = 0
  async function* sealed(): AsyncGenerator<Uint8Array> {
    for await (const part of sealContent(dek, once(bytes))) {
      hash.update(part)
      size += part.length
      yield part
    }
  }
  const kept = await enclaveFiles.keep(labels, sealed(), signal)
  const told = () => sealedMembers(asker, 'result', { fileId: kept.fileId, size, hash: hash.digest('hex') })
  const body = {
    fileId: kept.fileId,
    fileName: labels.name,
    fileSize: kept.size,
    handle: kept.fileId,
    mimeType: labels.mime,
    s3Path: kept.path,
    success: true,
    message: 'The file was made',
    ...(asker.named !== null && told()),
  }
  return { kind: 'body', status: 200, body, failure: null, trailer: emptyTrailer }
}

/** The file is whole in memory, so the stream has one part. */
async function* once(bytes: Uint8Array) {
  yield bytes
}
