import { randomBytes } from 'node:crypto'
import { sealRequest } from '../../plugins/sealed/client/seal-request.ts'
import { estimateOf } from '../../core/inference/metering/tokens.ts'
import type { EnclaveKey } from '../../plugins/sealed/wire/keyset.ts'
import { toHex } from '../../plugins/sealed/wire/bytes.ts'

export const kinds = ['chat', 'stream', 'decision', 'sealed', 'sealed stream'] as const
export type Kind = (typeof kinds)[number]

/** What is sent, and what it is taken to cost until the truth is known. */
export interface Body {
  readonly path: string
  readonly json: object
  readonly input: number
  readonly output: number
  /** What reading the question is counted as where the provider did not say. */
  readonly read: number
}

const names = { params: 'encryptedInference', kid: 'enclaveKid' }
const route = 'rvenc/chat/completions'

export interface Wish {
  readonly kind: Kind
  /** By which the provider knows it. */
  readonly mark: string
  /** Characters of the question. */
  readonly size: number
  /** The longest answer, in tokens. */
  readonly most: number
}

export const bodyOf = ({ kind, mark, size, most }: Wish, sealing: EnclaveKey): Body => {
  const content = `${mark} `.padEnd(24 + size, 'x')
  const chat = { messages: [{ role: 'user', content }], max_tokens: most }
  const stream = kind === 'stream' || kind === 'sealed stream'
  if (kind === 'decision') {
    const questions = { sure: { type: 'noul', instructions: 'Is it?' } }
    return {
      path: '/compat/v1/decision',
      json: { model: 'judge', state: content, questions },
      input: 0,
      output: 0,
      read: 0,
    }
  }
  const { input: read, output } = estimateOf(chat)
  if (kind === 'chat' || kind === 'stream')
    return { path: '/std/chat/completions', json: { model: 'plain', ...chat, stream }, input: read, output, read }
  const id = toHex(new Uint8Array(randomBytes(16)))
  const { body } = sealRequest(sealing, route, { model: 'quiet', ...chat, stream }, id, names)
  const input = Math.ceil(String(body['encryptedInference']).length / 8)
  return { path: `/${route}`, json: body, input, output: 1024, read }
}

/** What is taken of an allowance at first. */
export const chargeOf = ({ input, output }: Body, most: number): number =>
  input > most ? input : Math.min(most, input + output)
