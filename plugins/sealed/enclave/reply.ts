import type { SealedReply, Trailer } from '../../../core/ports/enclave.ts'
import { type Soon, soon } from '../../../core/ports/soon.ts'
import { cipherOf } from '../wire/aead.node.ts'
import { concat, utf8, toHex } from '../wire/bytes.ts'
import { freshNonce, jsonBucket, sealPrinted } from '../wire/seal.ts'
import {
  BadRequest,
  GatewayError,
  NotFound,
  TooMany,
  Unavailable,
  Unconfigured,
  Unreadable,
  UpstreamFailed,
} from '../../../core/errors.ts'
import { printJson } from '../../shared/print-json.ts'
import { type RefusalCode, refusalCodes } from '../../shared/refusal.ts'
import { unverified } from '../../../core/inference/proven.ts'
import { guardRefused } from '../../shared/guards/passage.ts'
import { type SealedRefusalCode, Refusal, refusalTexts } from './refusals.ts'
import type { OpenedRequest } from './open.ts'
import { longBytes, sealInTurns } from './long-bytes.ts'

/** For answers that used no model. */
export const emptyTrailer: Trailer = { model: null, backend: null, usage: null, audioSeconds: null }

/** The receiver of an answer, and the route that the answer names. */
export type AnswerTarget = Pick<OpenedRequest, 'secret' | 'named'>

/** The word inside the seal: the gateway could change the HTTP status, and cannot change this. */
type Status = 'result' | 'failure'

/** The members of an answer: JSON for the caller only, under a new nonce. */
export const sealedMembers = (
  asker: AnswerTarget,
  status: Status,
  value: unknown,
): Readonly<Record<string, string>> => {
  const nonce = freshNonce()
  const sealed = sealPrinted(asker.secret, nonce, concat(...boundJson(asker, status, utf8(JSON.stringify(value)))))
  return { encryptedResponse: toHex(sealed), nonce: toHex(nonce) }
}

/** The JSON with the words that bind it to its request. */
const boundJson = ({ named }: AnswerTarget, status: Status, json: Uint8Array): readonly Uint8Array[] =>
  named === null ? [json] : [utf8(`{"$for":${JSON.stringify(named)},"$status":"${status}","value":`), json, utf8('}')]

/** The bytes of a result. Those of a long one are sealed in turns of the loop. */
const sealedResult = (asker: AnswerTarget, nonce: Uint8Array, json: Uint8Array): Soon<Uint8Array> => {
  const parts = boundJson(asker, 'result', json)
  if (json.length <= longBytes) return sealPrinted(asker.secret, nonce, concat(...parts))
  return sealInTurns(cipherOf(asker.secret, nonce), parts, jsonBucket)
}

/** The digits of a short answer. A long one stays bytes until it leaves the gateway. */
export const sealedText = (bytes: Uint8Array): string | Uint8Array => (bytes.length > longBytes ? bytes : toHex(bytes))

/** The reply for a result that is still a value. */
export const sealedReply = (asker: AnswerTarget, value: unknown, trailer: Trailer): Soon<SealedReply> =>
  soon(jsonBytes(value), (json) => printedReply(asker, json, trailer))

/** The JSON of an answer; that of a long one is printed in turns of the loop. */
export const jsonBytes = (value: unknown): Soon<Uint8Array> =>
  soon(printJson(value), (json) => (typeof json === 'string' ? utf8(json) : json))

/** The reply for a result that is already JSON text. */
export const printedReply = (asker: AnswerTarget, json: Uint8Array, trailer: Trailer): Soon<SealedReply> => {
  const nonce = freshNonce()
  return soon(sealedResult(asker, nonce, json), (bytes): SealedReply => {
    const body = { encryptedResponse: sealedText(bytes), nonce: toHex(nonce) }
    return { kind: 'body', status: 200, body, failure: null, trailer }
  })
}

/** A failure after opening: fixed words outside the seal, the field inside. */
export const sealedFailure = (asker: AnswerTarget, error: unknown, trailer: Trailer = emptyTrailer): SealedReply => {
  const { code, field, told, retryAfter } = refusalOf(error)
  const { status, message } = refusalTexts[code]
  const refusal = { code, ...(field !== null && { field }), ...(told !== null && { message: told }) }
  const again = code === 'insufficient_quota' || retryAfter !== null ? { retryAfter } : {}
  return { kind: 'body', status, body: sealedMembers(asker, 'failure', refusal), failure: message, trailer, ...again }
}

/** Turns every error into a code. The error is dropped, because messages quote the text that was read. */
export const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  const field = error instanceof BadRequest ? (Object.keys(error.validator ?? {})[0] ?? null) : null
  return new Refusal(codeOf(error), field, error instanceof GatewayError ? error : {})
}

/** A backend's reason for refusing has the code of the clear routes. */
const isReason = (code: string | null): code is RefusalCode =>
  (refusalCodes as readonly (string | null)[]).includes(code)

/** Errors without a code of their own get the nearest one; unknown errors are `unavailable`. */
const codeOf = (error: unknown): SealedRefusalCode => {
  if (error instanceof GatewayError && isReason(error.code)) return error.code
  if (error instanceof GatewayError && error.code === guardRefused) return guardRefused
  if (error instanceof UpstreamFailed) {
    if (error.code === unverified) return unverified
    return error.status === 503 ? 'unavailable' : 'upstream_failed'
  }
  if (error instanceof TooMany) return 'busy'
  if (error instanceof Unavailable || !(error instanceof GatewayError)) return 'unavailable'
  if (error instanceof NotFound) return 'unknown_model'
  if (error instanceof Unreadable) return 'unreadable_file'
  if (error instanceof Unconfigured) return 'not_configured'
  return error instanceof BadRequest ? 'refused' : 'unavailable'
}
