import { randomBytes } from '@noble/hashes/utils.js'
import { fromHex, toHex } from '../wire/hex.ts'
import { encapsulate, kems } from '../wire/kem.ts'
import { type EnclaveKey, enclaveKid, newest } from '../wire/keyset.ts'
import { freshNonce, openJson, seal, sealJson } from '../wire/seal.ts'
import { SealgateError } from './error.ts'
import { type Evidence, type Policy, verify } from './verify.ts'

export interface Connection {
  readonly baseUrl: string
  readonly apiKey: string
  readonly policy: Policy
  /** The platform's own unless given. */
  readonly fetch: typeof globalThis.fetch
}

/** One request under its own encapsulation: what is sent, and what opens the answer. */
export interface SealedRequest {
  readonly body: Readonly<Record<string, unknown>>
  readonly secret: Uint8Array
  readonly nonce: Uint8Array
  /** Every nonce that was sent, hex. */
  readonly nonces: ReadonlySet<string>
}

/** Further parts to seal, by field, each under the nonce of the field that is named with it. */
export type Parts = Readonly<Record<string, { readonly bytes: Uint8Array; readonly nonce: string }>>

/** How a route spells its fields; null where only parts are sealed. */
export interface Names {
  readonly params: string | null
  readonly kid: string
  readonly cipherText?: string
}

// The only kind that this client seals to: both of its halves would have to fall.
const kem = kems.find(({ name }) => name === 'x-wing')!

const early = 60_000

export interface SealingKeys {
  /** A verified key to seal to; fetched and verified anew when there is none, or when `fresh` is wanted. */
  current(fresh: boolean, signal: AbortSignal | null): Promise<EnclaveKey>
}

export const sealingKeys = ({ baseUrl, apiKey, policy, fetch }: Connection): SealingKeys => {
  let held: EnclaveKey | null = null
  let fetching: Promise<EnclaveKey> | null = null

  const fetched = async (): Promise<EnclaveKey> => {
    const challenge = randomBytes(32)
    const answer = await fetch(`${baseUrl}/rvenc/attestation?challenge=${toHex(challenge)}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    }).catch((cause: unknown) => {
      throw new SealgateError('unreachable', { cause })
    })
    if (!answer.ok) throw refusal(answer)
    // What is not JSON is quoted by the error that says so; ours says nothing of it.
    const said: unknown = await answer.json().catch(() => null)
    const { keyset, evidence } = (said ?? {}) as { keyset?: unknown; evidence?: unknown }
    const bytes = typeof keyset === 'string' ? fromHex(keyset, 1024 * 1024) : null
    if (bytes === null || typeof evidence !== 'object' || evidence === null) throw new SealgateError('unverified')
    const body = await verify(bytes, evidence as Evidence, challenge, policy, Date.now())
    const key = newest(body, kem, Date.now())
    if (key === null) throw new SealgateError('no_key')
    return (held = key)
  }

  return {
    async current(fresh) {
      if (!fresh && held !== null && Date.now() < held.notAfter - early) return held
      fetching ??= fetched().finally(() => (fetching = null))
      return fetching
    },
  }
}

/** Seals parameters and parts for one route, under a new encapsulation and new nonces. `id` stays the same over retries. */
export const sealRequest = (
  key: EnclaveKey,
  route: string,
  params: Readonly<Record<string, unknown>>,
  id: string,
  names: Names,
  parts: Parts = {},
): SealedRequest => {
  const { cipherText, sharedSecret } = encapsulate(kem, key.publicKey)
  const nonce = freshNonce()
  const body: Record<string, unknown> = {
    ...(names.params !== null && {
      [names.params]: toHex(sealJson(sharedSecret, nonce, { ...params, $for: route, $id: id })),
      nonce: toHex(nonce),
    }),
    [names.cipherText ?? 'cipherText']: toHex(cipherText),
    [names.kid]: enclaveKid(key),
  }
  const nonces = new Set(names.params === null ? [] : [toHex(nonce)])
  for (const [field, { bytes, nonce: field2 }] of Object.entries(parts)) {
    const own = freshNonce()
    nonces.add(toHex(own))
    body[field2] = toHex(own)
    body[field] = toHex(seal(sharedSecret, own, bytes))
  }
  return { body, secret: sharedSecret, nonce, nonces }
}

/** The sealed answer as JSON; an answer under a nonce that we sent is our own request come back. */
export const openAnswer = (request: SealedRequest, answer: unknown): unknown => {
  const { encryptedResponse, nonce } = (answer ?? {}) as { encryptedResponse?: unknown; nonce?: unknown }
  if (typeof encryptedResponse !== 'string' || typeof nonce !== 'string' || request.nonces.has(nonce)) {
    throw new SealgateError('damaged')
  }
  const [sealed, bytes] = [fromHex(encryptedResponse, 256 * 1024 * 1024), fromHex(nonce, 24)]
  const value = sealed === null || bytes?.length !== 24 ? undefined : openJson(request.secret, bytes, sealed)
  if (value === undefined) throw new SealgateError('damaged')
  return value
}

const faults: Readonly<Record<number, 'unauthorized' | 'busy' | 'too_large' | 'unavailable'>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  413: 'too_large',
  429: 'busy',
  502: 'unavailable',
  503: 'unavailable',
}

export const refusal = (answer: Response): SealgateError => {
  const after = Number(answer.headers.get('retry-after-ms') ?? Number.NaN)
  return new SealgateError(faults[answer.status] ?? 'refused', {
    status: answer.status,
    retryAfter: Number.isFinite(after) ? after : null,
  })
}
