import type { SealedReply, Trailer } from '../ports/enclave.ts'
import { toHex } from '../wire/hex.ts'
import { freshNonce, sealJson } from '../wire/seal.ts'
import { BadRequest, GatewayError, NotFound, Unavailable, Unconfigured, Unreadable, UpstreamFailed } from '../errors.ts'
import { type Code, Refusal, catalogue } from './catalogue.ts'

export const silent: Trailer = { model: null, backend: null, usage: null, audioSeconds: null }

/** JSON for the caller alone, under a nonce that was never used before. */
const sealedJson = (secret: Uint8Array, value: unknown): Readonly<Record<string, string>> => {
  const nonce = freshNonce()
  return { encryptedResponse: toHex(sealJson(secret, nonce, value)), nonce: toHex(nonce) }
}

export const sealedReply = (secret: Uint8Array, value: unknown, trailer: Trailer): SealedReply => ({
  kind: 'body',
  status: 200,
  body: sealedJson(secret, value),
  failure: null,
  trailer,
})

/** What failed after opening, in fixed words outside and with the field inside. */
export const sealedFailure = (secret: Uint8Array, error: unknown, trailer: Trailer = silent): SealedReply => {
  const { code, field } = refusalOf(error)
  const { status, message } = catalogue[code]
  const said = field === null ? { code } : { code, field }
  return { kind: 'body', status, body: sealedJson(secret, said), failure: message, trailer }
}

/** Every error becomes a code; the error itself is dropped, since messages quote what was being read. */
export const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  return new Refusal(
    codeOf(error),
    error instanceof BadRequest ? (Object.keys(error.validator ?? {})[0] ?? null) : null,
  )
}

const codeOf = (error: unknown): Code => {
  if (error instanceof UpstreamFailed) return 'upstream_failed'
  if (error instanceof Unavailable || !(error instanceof GatewayError)) return 'unavailable'
  if (error instanceof NotFound) return 'unknown_model'
  if (error instanceof Unreadable) return 'unreadable_file'
  if (error instanceof Unconfigured) return 'not_configured'
  return error instanceof BadRequest ? 'refused' : 'unavailable'
}
