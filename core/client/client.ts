import { type Hearing, hearing } from './audio.ts'
import type { Completions } from './chat.ts'
import { completions } from './chat.ts'
import { SealgateError } from './error.ts'
import { sending } from './send.ts'
import type { Policy } from './verify.ts'
import { refusal, sealingKeys } from './wire.ts'

export interface ConnectOptions {
  /** Where the gateway is, without a path. */
  readonly baseUrl: string
  readonly apiKey: string
  /** What an enclave has to prove; nothing is sealed to one that does not. */
  readonly policy?: Policy
  readonly fetch?: typeof globalThis.fetch
}

export interface Client {
  readonly chat: { readonly completions: Completions }
  readonly audio: { readonly transcriptions: Hearing; readonly translations: Hearing }
  /** The confidential catalog as the gateway tells it. */
  readonly models: { list(): Promise<readonly { readonly model: string }[]> }
}

/** Everything is sealed here and opened here; in between nobody reads it but the enclave that was verified. */
export const connect = ({ baseUrl, apiKey, policy = {}, fetch = globalThis.fetch }: ConnectOptions): Client => {
  const connection = { baseUrl: baseUrl.replace(/\/+$/, ''), apiKey, policy, fetch: fetch.bind(globalThis) }
  const send = sending(connection, sealingKeys(connection))
  return {
    chat: { completions: completions(send) },
    audio: { transcriptions: hearing(send, 'transcriptions'), translations: hearing(send, 'translations') },
    models: {
      async list() {
        const headers = { authorization: `Bearer ${apiKey}` }
        const answer = await connection.fetch(`${connection.baseUrl}/rvenc/models`, { headers }).catch(unreachable)
        if (!answer.ok) throw refusal(answer)
        const said = (await answer.json().catch(unreachable)) as { data?: unknown } | null
        return Array.isArray(said?.data) ? said.data : unreachable()
      },
    },
  }
}

const unreachable = (cause?: unknown): never => {
  throw new SealgateError('unreachable', { cause })
}
