import { asking } from './ask.ts'
import { type Hearing, hearing } from './audio.ts'
import type { Completions } from './chat.ts'
import { completions } from './chat.ts'
import { SealgateError } from './error.ts'
import { type FileAccess, fileAccess } from './files.ts'
import { keysOf } from './keys.ts'
import { sealingParts, sending } from './send.ts'
import { type Tools, tools } from './tools.ts'
import { type Upkeep, upkeep } from './upkeep.ts'
import type { Policy } from './verify.ts'
import { sealingKeys } from './wire.ts'

export interface ConnectOptions {
  /** Where the gateway is, without a path. */
  readonly baseUrl: string
  readonly apiKey: string
  /** What an enclave has to prove; nothing is sealed to one that does not. */
  readonly policy?: Policy
  /** 64 hex: what stored files are under. It is never sent. */
  readonly kek?: string
  /** The retrieval key, wrapped under the KEK, as `newRagDek` makes it. */
  readonly wrappedRagDek?: string
  /** Where tools and indexing are served, when that is another address. */
  readonly toolsUrl?: string
  readonly fetch?: typeof globalThis.fetch
}

export type Files = Omit<FileAccess, 'dekOf' | 'opened'> & Upkeep

export interface Client {
  readonly chat: { readonly completions: Completions }
  readonly audio: { readonly transcriptions: Hearing; readonly translations: Hearing }
  readonly files: Files
  readonly tools: Tools
  /** The confidential catalog as the gateway tells it. */
  readonly models: { list(): Promise<readonly { readonly model: string }[]> }
}

export { newKek, newRagDek, rewrapRagDek } from './keys.ts'

/** Everything is sealed here and opened here; in between nobody reads it but the enclave that was verified. */
export const connect = ({
  apiKey,
  policy = {},
  fetch = globalThis.fetch,
  kek,
  wrappedRagDek,
  ...at
}: ConnectOptions): Client => {
  const connectionTo = (url: string) => ({
    baseUrl: url.replace(/\/+$/, ''),
    apiKey,
    policy,
    fetch: fetch.bind(globalThis),
  })
  const [main, aside] = [connectionTo(at.baseUrl), connectionTo(at.toolsUrl ?? at.baseUrl)]
  const enclaveKeys = sealingKeys(main)
  const keys = keysOf(kek, wrappedRagDek)
  const send = sending(main, enclaveKeys)
  const sealParts = sealingParts(enclaveKeys)
  const ask = asking(main)
  const { dekOf, opened, ...files } = fileAccess(ask, keys, sealParts)
  const access = { dekOf, opened, ...files }
  return {
    chat: { completions: completions(send) },
    audio: { transcriptions: hearing(send, 'transcriptions'), translations: hearing(send, 'translations') },
    files: { ...files, ...upkeep(ask, asking(aside), keys, access, sealParts) },
    tools: tools(asking(aside), sending(aside, enclaveKeys), keys, access),
    models: {
      async list() {
        const answer = await ask.raw('GET', 'rvenc/models')
        const said = (await answer.json().catch(unreachable)) as { data?: unknown } | null
        return Array.isArray(said?.data) ? said.data : unreachable()
      },
    },
  }
}

const unreachable = (cause?: unknown): never => {
  throw new SealgateError('unreachable', { cause })
}
