import type { SealedReply, Trailer } from '../../ports/enclave.ts'
import { concat, utf8 } from '../wire/bytes.ts'
import { toHex } from '../wire/hex.ts'
import { freshNonce, sealPrinted } from '../wire/seal.ts'
import {
  BadRequest,
  GatewayError,
  NotFound,
  TooMany,
  Unavailable,
  Unconfigured,
  Unreadable,
  UpstreamFailed,
} from '../../errors.ts'
import { type RefusalCode, refusalCodes } from '../../dialects/refusal.ts'
import { type Code, Refusal, catalogue } from './refusals.ts'
import type { Opened } from './open.ts'

export const silent: Trailer = { model: null, backend: null, usage: null, audioSeconds: null }

/** Whom an answer is sealed for, and whether it says inside what it is. */
export type Asker = Pick<Opened, 'secret' | 'named'>

type Status = 'result' | 'failure'

/** JSON for the caller alone, under a nonce that was never used before. */
export const sealedJson = (asker: Asker, status: Status, value: unknown): Readonly<Record<string, string>> =>
  sealedPrinted(asker, status, utf8(JSON.stringify(value)))

const sealedPrinted = ({ secret, named }: Asker, status: Status, json: Uint8Array) => {
  const nonce = freshNonce()
  const head = `{"$for":${JSON.stringify(named)},"$status":"${status}","value":`
  const said = named === null ? json : concat(utf8(head), json, utf8('}'))
  return { encryptedResponse: toHex(sealPrinted(secret, nonce, said)), nonce: toHex(nonce) }
}

export const sealedReply = (asker: Asker, value: unknown, trailer: Trailer): SealedReply =>
  printedReply(asker, utf8(JSON.stringify(value)), trailer)

/** The reply with a result that is JSON text already. */
export const printedReply = (asker: Asker, json: Uint8Array, trailer: Trailer): SealedReply => ({
  kind: 'body',
  status: 200,
  body: sealedPrinted(asker, 'result', json),
  failure: null,
  trailer,
})

/** What failed after opening, in fixed words outside and with the field inside. */
export const sealedFailure = (asker: Asker, error: unknown, trailer: Trailer = silent): SealedReply => {
  const { code, field, told, retryAfter } = refusalOf(error)
  const { status, message } = catalogue[code]
  const said = { code, ...(field !== null && { field }), ...(told !== null && { message: told }) }
  const again = code === 'insufficient_quota' || retryAfter !== null ? { retryAfter } : {}
  return { kind: 'body', status, body: sealedJson(asker, 'failure', said), failure: message, trailer, ...again }
}

/** Every error becomes a code; the error itself is dropped, since messages quote the text that was read. */
export const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  const field = error instanceof BadRequest ? (Object.keys(error.validator ?? {})[0] ?? null) : null
  return new Refusal(codeOf(error), field, error instanceof GatewayError ? error : {})
}

/** Why a backend refuses is said in the words of the other routes. */
const isReason = (code: string | null): code is RefusalCode =>
  (refusalCodes as readonly (string | null)[]).includes(code)

const codeOf = (error: unknown): Code => {
  if (error instanceof GatewayError && isReason(error.code)) return error.code
  if (error instanceof UpstreamFailed) return 'upstream_failed'
  if (error instanceof TooMany) return 'busy'
  if (error instanceof Unavailable || !(error instanceof GatewayError)) return 'unavailable'
  if (error instanceof NotFound) return 'unknown_model'
  if (error instanceof Unreadable) return 'unreadable_file'
  if (error instanceof Unconfigured) return 'not_configured'
  return error instanceof BadRequest ? 'refused' : 'unavailable'
}
