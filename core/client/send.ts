import { randomBytes } from '@noble/hashes/utils.js'
import { toHex } from '../wire/hex.ts'
import { SealgateError } from './error.ts'
import {
  type Connection,
  type Names,
  type Parts,
  type SealedRequest,
  type SealingKeys,
  openAnswer,
  refusal,
  sealRequest,
} from './wire.ts'

export interface Sent {
  readonly request: SealedRequest
  readonly answer: Response
}

export type Send = ReturnType<typeof sending>

/** Seals keys alone, for routes that take no parameters; `fresh` asks for the enclave's keys first. */
export type SealParts = (names: Names, parts: Parts, fresh?: boolean) => Promise<SealedRequest>

export const sealingParts =
  (keys: SealingKeys): SealParts =>
  async (names, parts, fresh = false) =>
    sealRequest(await keys.current(fresh, null), '', {}, '', names, parts)

/** Seals and sends; when the enclave's keys have changed meanwhile, fetches them and tries once more, and never more. */
export const sending =
  (connection: Connection, keys: SealingKeys) =>
  async (
    route: string,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal | null,
    names: Names,
    outer: Readonly<Record<string, unknown>> = {},
    parts: Parts = {},
  ): Promise<Sent> => {
    const id = toHex(randomBytes(16))
    for (let fresh = false; ; fresh = true) {
      const request = sealRequest(await keys.current(fresh, signal), route, params, id, names, parts)
      const answer = await connection
        .fetch(`${connection.baseUrl}/${route}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${connection.apiKey}`,
            'content-type': 'application/json',
            'x-enclave-kid': String(request.body[names.kid]),
          },
          body: JSON.stringify({ ...outer, ...request.body }),
          signal,
        })
        .catch((cause: unknown) => {
          throw signal?.aborted ? signal.reason : new SealgateError('unreachable', { cause })
        })
      if (answer.ok) return { request, answer }
      const said = (await answer.json().catch(() => null)) as {
        data?: unknown
        validator?: Record<string, unknown> | null
      } | null
      if (!fresh && answer.status === 400 && said?.validator?.[names.kid] !== undefined) continue
      throw said?.data == null ? refusal(answer) : sealedRefusal(request, said.data, answer)
    }
  }

/** A failure that the enclave itself reports, under the seal. */
const sealedRefusal = (request: SealedRequest, data: unknown, answer: Response): SealgateError => {
  const said = openAnswer(request, data) as { code?: unknown; field?: unknown } | null
  const { status, retryAfter } = refusal(answer)
  return new SealgateError('failed', {
    status,
    retryAfter,
    code: typeof said?.code === 'string' ? said.code : null,
    field: typeof said?.field === 'string' ? said.field : null,
  })
}
