import { boundKey, namedKey } from '../wire/binding.ts'
import { fromHex } from '../wire/bytes.ts'
import { type ClearRequests, pathFor } from './http-request.ts'
import { SealgateError, unlessLeft } from './error.ts'
import type { FileRecord } from './file-shapes.ts'
import type { FileAccess } from './files.ts'
import type { FileContext } from './record-checks.ts'
import { type Options, type SendSealed, wholeAnswer } from './send-sealed.ts'
import type { MadeByTool, ToolName, ToolParams, ToolResult } from './tool-shapes.ts'
import type { Parts } from './seal-request.ts'

/** A tool as the gateway lists it. */
export interface ToolDescriptor {
  readonly name: string
  readonly normalizedName: string
  readonly shortName: string
  readonly description: string
  readonly kind: 'simple' | 'reads-file' | 'makes-file' | 'retrieval'
  /** JSON schema; absent when the gateway is older. */
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** Tools of the enclave. An abort before the answer begins throws the signal's reason. */
export interface Tools {
  list(): Promise<readonly ToolDescriptor[]>
  call<T extends ToolName>(name: T, params: ToolParams[T], options?: Options): Promise<ToolResult[T]>
  call(name: string, params: Readonly<Record<string, unknown>>, options?: Options): Promise<unknown>
}

const names = { params: 'encryptedParams', kid: 'enclaveKid' }

type Params = Readonly<Record<string, unknown>>
type Outer = (now: number) => Readonly<Record<string, unknown>>

/** The enclave's description of a file that a tool made. */
interface Kept {
  readonly fileId: string
  readonly size: number
  readonly hash: string
}

/** Fetches the list of tools once. After a failure the next call fetches it again. */
const listing = (aside: ClearRequests) => {
  let known: Promise<readonly ToolDescriptor[]> | null = null
  return () =>
    (known ??= aside.data<readonly ToolDescriptor[]>('GET', 'tools').catch((error: unknown) => {
      known = null
      throw error
    }))
}

/** Seals, sends and opens. The receipt is checked before the result is given. */
const callTool =
  (send: SendSealed) =>
  async (name: string, params: Params, options: Options, parts: Parts, outer?: Outer): Promise<unknown> => {
    const sent = await send(`tools/${encodeURIComponent(name)}`, params, options, names, outer, parts)
    return wholeAnswer(sent, options, true)
  }

/** Runs tools inside the enclave. The kind of a tool decides which keys its call needs. */
export const tools = (
  aside: ClearRequests,
  send: SendSealed,
  { ask, keys, checks }: FileContext,
  files: FileAccess,
): Tools => {
  const list = listing(aside)
  const called = callTool(send)

  /** The file's key, with the file that it belongs to: the gateway cannot put another file under the key. */
  const reading = async (params: Params, signal: AbortSignal | undefined): Promise<Parts> => {
    const id = String(params['fileId'])
    const { record, dek, proof } = await files.checked(id, signal)
    const stored = proof && { size: record.file_size, hash: proof.hash }
    return { encryptedFileDek: { bytes: namedKey(dek, id, stored), nonce: 'fileNonce' } }
  }

  /** Binds the file that the enclave describes, so that the gateway can put no other file in its place. */
  const making = async (name: string, params: Params, options: Options): Promise<MadeByTool> => {
    const dek = boundKey()
    const wrapped_dek = keys.wrap(dek)
    let id = ''
    const outer = (now: number) => ({ kid: keys.kid, wrappedDek: wrapped_dek, fileId: (id = keys.newId(now)) })
    const parts = { encryptedFileDek: { bytes: dek, nonce: 'fileNonce' } }
    const kept = (await called(name, params, options, parts, outer)) as Kept
    const hash = fromHex(kept.hash, 32)
    if (kept.fileId !== id || hash?.length !== 32) throw new SealgateError('damaged')
    const record = { id, version: '2', file_size: kept.size, kid: keys.kid, wrapped_dek }
    const binding = keys.bind(record, { revision: 1, hash, clientHash: null })
    const change = { old_kid: keys.kid, kid: keys.kid, wrapped_dek, binding }
    const asking = { json: change, ...(options.signal && { signal: options.signal }) }
    const bound = await ask.data<FileRecord>('PATCH', pathFor`files/encrypted/${id}`, asking)
    if (bound.id !== id || bound.binding !== binding) throw new SealgateError('damaged')
    const { name: itsName, mime, file_size: size } = files.opened(await checks.check(bound))
    return { fileId: id, name: itsName, mime, size }
  }

  return {
    list,
    async call(name: string, params: object, options: Options = {}) {
      const { signal } = options
      const kind = (await unlessLeft(list(), signal)).find((tool) => tool.name === name)?.kind ?? 'simple'
      const given = params as Params
      switch (kind) {
        case 'simple':
          return called(name, given, options, {})
        case 'reads-file':
          return called(name, given, options, await reading(given, signal))
        case 'makes-file':
          return making(name, given, options)
        case 'retrieval':
          return called(name, given, options, { encryptedRagDek: { bytes: keys.ragDek(), nonce: 'ragDekNonce' } })
      }
    },
  } as Tools
}
