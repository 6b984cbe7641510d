import { randomBytes } from '@noble/hashes/utils.js'
import { lengths, refusalHeader } from '../wire/body.ts'
import { toHex } from '../wire/bytes.ts'
import { cutBy, SealgateError } from './error.ts'
import { type CheckedReceipt, receiptBeside } from './receipts.ts'
import {
  type Connection,
  type RouteFields,
  type Parts,
  type SealedRequest,
  type SealingKeys,
  sealedFailure,
  openAnswer,
  openWithStatus,
  clearRefusal,
  sealRequest,
} from './seal-request.ts'

/** What a call takes beside its parameters. */
export interface Options {
  /** Ends the call. An abort before the answer begins throws the signal's reason. */
  readonly signal?: AbortSignal
  /** Receives the gateway's id of the request when its answer begins; null when the gateway names none. */
  readonly answered?: (requestId: string | null) => void
  /** Receives the checked receipt: before a whole answer, or at the end of a stream. Without one the call fails. */
  readonly receipt?: (receipt: CheckedReceipt) => void
}

/** A request with the head of its answer; the caller reads the body. */
export interface SentRequest {
  readonly request: SealedRequest
  readonly answer: Response
}

export type SendSealed = ReturnType<typeof sealedSender>

/** The names of the fields on all routes of models. */
export const inferenceNames = { params: 'encryptedInference', kid: 'enclaveKid' }

/** The cleartext fields of a refusal. */
export interface RefusalFields {
  readonly data?: unknown
  readonly validator?: Readonly<Record<string, unknown>> | null
  readonly log?: { readonly code?: unknown } | null
}

/** The gateway's clock in ms when it refuses an id chosen by this client; null for any other refusal. */
export const clockOf = (answer: Response, refusal: RefusalFields | null, field: string): number | null => {
  const time = Date.parse(answer.headers.get('date') ?? '')
  return answer.status !== 400 || refusal?.validator?.[field] === undefined || Number.isNaN(time) ? null : time
}

/** Seals keys only, for routes without parameters. `fresh` fetches the enclave's keys first. An abort ends the waiting. */
export type SealParts = (
  names: RouteFields,
  parts: Parts,
  signal: AbortSignal | null,
  fresh?: boolean,
) => Promise<SealedRequest>

/** The request has no route inside its seal: the keys that it seals name their files instead. */
export const partsSealer =
  (keys: SealingKeys): SealParts =>
  async (names, parts, signal, fresh = false) =>
    sealRequest(await keys.current(fresh, signal), '', {}, '', names, parts)

/**
 * Seals and sends. Tries again once when the enclave's keys have changed, and once with the gateway's clock. `outer` is
 * called for each try.
 */
export const sealedSender =
  (connection: Connection, keys: SealingKeys) =>
  async (
    route: string,
    params: object,
    { receipt, answered, ...options }: Options,
    names: RouteFields,
    outer: (now: number) => Readonly<Record<string, unknown>> = () => ({}),
    parts: Parts = {},
  ): Promise<SentRequest> => {
    const signal = options.signal ?? null
    const wanted = { ...params, ...(receipt && { receipt: true }) }
    const id = toHex(randomBytes(16))
    let clock: number | null = null
    for (let fresh = false; ;) {
      const request = sealRequest(await keys.current(fresh, signal), route, wanted, id, names, parts)
      const answer = await connection
        .fetch(`${connection.baseUrl}/${route}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${connection.apiKey}`,
            'content-type': 'application/json',
            'x-enclave-kid': String(request.body[names.kid]),
          },
          body: JSON.stringify({ ...outer(clock ?? Date.now()), ...request.body }),
          signal,
        })
        .catch((cause: unknown) => {
          throw signal?.aborted ? signal.reason : new SealgateError('unreachable', { cause })
        })
      if (answer.ok) {
        answered?.(answer.headers.get('x-request-id'))
        return { request, answer }
      }
      const refusal = (await answer.json().catch(() => null)) as RefusalFields | null
      signal?.throwIfAborted()
      if (!fresh && answer.status === 400 && refusal?.validator?.[names.kid] !== undefined) {
        fresh = true
        continue
      }
      if (clock === null && (clock = clockOf(answer, refusal, 'fileId')) !== null) continue
      const sealed = refusal?.data ?? inHeader(answer)
      throw sealed === null ? clearRefusal(answer) : sealedRefusal(request, sealed, answer)
    }
  }

/** Opens an answer that comes at once. Its receipt is checked before it is given. `enveloped` answers stand in `data`. */
export const wholeAnswer = async (
  { request, answer }: SentRequest,
  { signal, receipt }: Options,
  enveloped = false,
): Promise<unknown> => {
  const body: unknown = await answer.json().catch(cutBy(signal ?? null))
  const data = enveloped ? (body as { readonly data: unknown }).data : body
  const opened = openAnswer(request, data)
  receipt?.(receiptBeside(request, data))
  return opened
}

/** The sealed refusal of a 429, whose body has none; null for an answer without one. */
const inHeader = ({ headers }: Response): unknown => {
  const digits = headers.get(refusalHeader)
  const nonce = lengths.nonce * 2
  return digits === null ? null : { nonce: digits.slice(0, nonce), encryptedResponse: digits.slice(nonce) }
}

/** Throws when the seal contains a result although HTTP reports a failure. */
const sealedRefusal = (request: SealedRequest, data: unknown, answer: Response): SealgateError => {
  const { status, value } = openWithStatus(request, data)
  if (status !== 'failure') throw new SealgateError('damaged')
  return sealedFailure(value, clearRefusal(answer))
}
