import { createCipheriv, randomBytes } from 'node:crypto'
import { BadRequest, Expired, Unavailable } from '../../../core/errors.ts'
import type { Supplied } from '../../../core/container.ts'
import { isJsonObject } from '../../../core/dialects/json-object.ts'
import { usualBounds } from '../../../core/dialects/json-scan.ts'
import type { Pace } from '../../../core/dialects/loop-time.ts'
import { readJson } from '../../../core/dialects/read-json.ts'
import type { Grant, SealedReply, Trailer } from '../../../core/ports/enclave.ts'
import { splitChunks } from '../ehbp/chunks.ts'
import { type AnswerSecret, answerKeys, answerNonce, openRequest } from '../ehbp/exchange.ts'
import { suites } from '../ehbp/key-config.ts'
import { concat, numberOf, padded, utf8, toHex } from '../wire/bytes.ts'
import { bucket } from '../wire/frames.ts'
import { kemOf } from '../wire/kem-names.ts'
import { type ChatResult, answeredChat, type chatNeeds } from './chat.ts'
import type { Epochs } from './epochs.ts'
import type { PacedStream } from './frame-pacing.ts'
import { Refusal, refusalTexts } from './refusals.ts'
import { bufferOf } from '../../shared/backend.ts'
import { hexOf, sealInTurns } from './long-bytes.ts'
import { emptyTrailer, jsonBytes, refusalOf, sealedText } from './reply.ts'

/** The parts of the enclave that such a chat uses. */
export interface EhbpNeeds {
  readonly epochs: Epochs
  readonly forChat: Supplied<typeof chatNeeds>
}

/**
 * Opens a chat, answers it and seals the answer. `sealed` is the length of the encapsulated key in two bytes, the key,
 * and the body. Throws one Expired for a wrong key, changed bytes and a replay: an attacker learns nothing from the
 * difference, and a client asks for the keys anew.
 */
export const chatByEhbp = async (
  { epochs, forChat }: EhbpNeeds,
  sealed: Uint8Array,
  grant: Grant,
  pace: Pace,
  signal: AbortSignal,
): Promise<SealedReply> => {
  const { plain, answer } = await opened(epochs, sealed)
  const seal = await sealerOf(answer)
  // No frame of this call waits below: it would hold the values of a long answer beside the answer's bytes.
  return paramsOf(plain, pace)
    .then((params) => answeredChat(params, grant, pace, forChat, signal))
    .then((result) => sealedResult(seal, result))
    .catch((error: unknown) => {
      signal.throwIfAborted()
      return refused(seal, error, emptyTrailer)
    })
}

const sealedResult = (seal: AnswerSeal, result: ChatResult): SealedReply | Promise<SealedReply> => {
  if (result.kind === 'stream') return streamed(seal, result)
  const { trailer } = result
  if (result.kind === 'refused') return refused(seal, result.error, trailer)
  return seal.whole(result.value).then((body) => ({ kind: 'body', status: 200, body, failure: null, trailer }))
}

/** The promise rejects where no key of this enclave opens the request, and where the request was opened before. */
const opened = async (epochs: Epochs, sealed: Uint8Array) => {
  const length = Number(numberOf(sealed.subarray(0, 2)))
  const encapsulated = sealed.slice(2, 2 + length)
  const chunks = splitChunks(sealed.subarray(2 + length))
  const kem = kemOf(length)
  if (kem === null || encapsulated.length !== length || !suites.includes(kem.name))
    throw new BadRequest('Validation failed', { validator: { encapsulatedKey: 'Expected a key of a known suite' } })
  if (chunks === null)
    throw new BadRequest('Validation failed', { validator: { body: 'Expected whole chunks of a sensible size' } })
  for (const key of epochs.candidates(kem) ?? []) {
    const found = await openRequest(kem, key.open, encapsulated, chunks).catch(() => null)
    if (found === null) continue
    const entered = epochs.enter(key, encapsulated)
    if (entered === 'full') throw new Unavailable()
    if (entered === 'fresh') return found
    break
  }
  throw new Expired('Unknown or expired enclave key')
}

/** Throws a Refusal, whose caller gets it sealed. */
const paramsOf = async (plain: Uint8Array, pace: Pace): Promise<Readonly<Record<string, unknown>>> => {
  try {
    const value: unknown = await readJson(bufferOf(plain), 'plain', usualBounds, pace)
    if (isJsonObject(value)) return value
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error
  }
  throw new Refusal('invalid_parameters')
}

interface AnswerSeal {
  /** In hex. */
  readonly nonce: string
  chunk(plain: Uint8Array): Promise<string>
  whole(value: unknown): Promise<{ readonly nonce: string; readonly chunk: string | Uint8Array }>
}

const sealerOf = async (answer: AnswerSecret): Promise<AnswerSeal> => {
  const nonce = new Uint8Array(randomBytes(answerNonce))
  const { key, nonceOfNext } = await answerKeys(answer, nonce)
  const seal = (plain: Uint8Array, bucket: number) =>
    sealInTurns(createCipheriv('aes-256-gcm', key, nonceOfNext()), [plain], bucket)
  return {
    nonce: toHex(nonce),
    chunk: async (plain) => hexOf(await seal(plain, 1)),
    // Spaces behind JSON change nothing of it, and hide its length up to a bucket.
    whole: (value) =>
      Promise.resolve(jsonBytes(value))
        .then((json) => seal(json, bucket))
        .then((sealed) => ({ nonce: toHex(nonce), chunk: sealedText(sealed) })),
  }
}

/** The form in which clients of the common chat expect an error. */
const errorOf = ({ code, field, told }: Refusal) => ({
  error: { message: told ?? refusalTexts[code].message, type: 'invalid_request_error', code, param: field },
})

const refused = async (seal: AnswerSeal, error: unknown, trailer: Trailer): Promise<SealedReply> => {
  const refusal = refusalOf(error)
  const { status, message } = refusalTexts[refusal.code]
  const { retryAfter } = refusal
  const body = await seal.whole(errorOf(refusal))
  return { kind: 'body', status, body, failure: message, trailer, ...(retryAfter !== null && { retryAfter }) }
}

/** Events of the common chat format. The first frame is the nonce; the mark of the end stands inside the seal. */
const streamed = (seal: AnswerSeal, { chunks, counted }: Extract<ChatResult, { kind: 'stream' }>): SealedReply => {
  let tell: (trailer: Trailer) => void = () => {}
  const trailer = new Promise<Trailer>((resolve) => (tell = resolve))
  return { kind: 'frames', frames: events(seal, chunks, () => tell(counted())), trailer }
}

/** An event of JSON, whose length up to a bucket is hidden by spaces. */
const event = (json: Uint8Array): Uint8Array => concat(utf8('data: '), padded(json, bucket), utf8('\n\n'))

/** A comment hides the length of the mark, since clients compare the mark as a whole. */
const mark = concat(padded(utf8(':'), bucket - 10), utf8('\n\ndata: [DONE]\n\n'))

async function* events(
  seal: AnswerSeal,
  chunks: AsyncIterable<PacedStream>,
  ended: () => void,
): AsyncGenerator<string> {
  yield seal.nonce
  try {
    for await (const { text } of chunks) yield await seal.chunk(event(text))
    yield await seal.chunk(mark)
  } catch (error) {
    yield await seal.chunk(event(utf8(JSON.stringify(errorOf(refusalOf(error))))))
  } finally {
    ended()
  }
}
