import { randomBytes } from '@noble/hashes/utils.js'
import { concat, utf8 } from '../wire/bytes.ts'
import type { Ask } from './ask.ts'
import { SealgateError } from './error.ts'
import type { FileAccess } from './files.ts'
import type { Keys } from './keys.ts'
import type { Send } from './send.ts'
import type { MadeByTool, ToolName, ToolParams, ToolResult } from './tool-shapes.ts'
import { type Parts, openAnswer } from './wire.ts'

export interface ToolDescriptor {
  readonly name: string
  readonly normalizedName: string
  readonly shortName: string
  readonly description: string
  readonly kind: 'simple' | 'reads-file' | 'makes-file' | 'retrieval'
}

export interface Tools {
  list(): Promise<readonly ToolDescriptor[]>
  call<T extends ToolName>(name: T, params: ToolParams[T], options?: { signal?: AbortSignal }): Promise<ToolResult[T]>
  call(name: string, params: Readonly<Record<string, unknown>>, options?: { signal?: AbortSignal }): Promise<unknown>
}

const names = { params: 'encryptedParams', kid: 'enclaveKid' }

/** Tools that run where only the enclave sees. What a tool needs beside its parameters is told by its kind. */
export const tools = (ask: Ask, send: Send, keys: Keys, files: FileAccess): Tools => {
  let known: Promise<readonly ToolDescriptor[]> | null = null
  const list = () =>
    (known ??= ask.data<readonly ToolDescriptor[]>('GET', 'tools').catch((error: unknown) => {
      known = null
      throw error
    }))

  const reading = async (
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<Parts> => {
    const id = String(params['fileId'])
    const dek = files.dekOf(await files.record(id, signal))
    return { encryptedFileDek: { bytes: concat(dek, utf8(id)), nonce: 'fileNonce' } }
  }

  return {
    list,
    async call(name: string, params: object, { signal }: { signal?: AbortSignal } = {}) {
      const kind = (await list()).find((tool) => tool.name === name)?.kind ?? 'simple'
      const given = params as Readonly<Record<string, unknown>>
      const dek = randomBytes(32)
      const parts: Parts =
        kind === 'reads-file'
          ? await reading(given, signal)
          : kind === 'makes-file'
            ? { encryptedFileDek: { bytes: dek, nonce: 'fileNonce' } }
            : kind === 'retrieval'
              ? { encryptedRagDek: { bytes: keys.ragDek(), nonce: 'ragDekNonce' } }
              : {}
      const outer = kind === 'makes-file' ? { kid: keys.kid, wrappedDek: keys.wrap(dek) } : {}
      const sent = await send(`tools/${encodeURIComponent(name)}`, given, signal ?? null, names, outer, parts)
      const { data } = (await sent.answer.json().catch((cause: unknown) => {
        throw new SealgateError('truncated', { cause })
      })) as { data: unknown }
      if (kind !== 'makes-file') return openAnswer(sent.request, data)
      const { fileId } = data as { fileId: string }
      const record = await files.record(fileId, signal)
      // Whoever put another file in its place has not the key that was made for this one.
      if (record.wrapped_dek !== outer.wrappedDek) throw new SealgateError('damaged')
      const { name: itsName, mime, file_size: size } = files.opened(record)
      return { fileId, name: itsName, mime, size } satisfies MadeByTool
    },
  } as Tools
}
