import { randomBytes } from '@noble/hashes/utils.js'
import { fromHex, toHex } from '../wire/bytes.ts'
import { kems, type Kem, encapsulate } from '../wire/kem.ts'
import { type EnclaveKey, enclaveKid, newest } from '../wire/keyset.ts'
import { requestDigest } from '../wire/receipt.ts'
import { freshNonce, openJson, seal, sealJson } from '../wire/seal.ts'
import type { Pair } from '../wire/signature.ts'
import { SealgateError, unlessLeft } from './error.ts'
import { type ReceiptRequest, namedSigners } from './receipts.ts'
import { type SignedLists, listsIn, needsLists, withLists } from './signed-lists.ts'
import { type Evidence, type Policy, type ProvenKeys, verify } from './verify.ts'

/** A gateway, and what its enclave must prove. */
export interface Connection {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly policy: Policy
  /** The platform's own `fetch` by default. */
  readonly fetch: typeof globalThis.fetch
}

/** One request under its own encapsulation: the sent bytes, and the keys that open the answer. */
export interface SealedRequest extends ReceiptRequest {
  readonly body: Readonly<Record<string, unknown>>
  /** The answer must name this route inside its seal. */
  readonly route: string
  readonly secret: Uint8Array
  readonly nonce: Uint8Array
  /** All nonces of the request, in hex. */
  readonly nonces: ReadonlySet<string>
}

/** A key to seal to, and the known keys that sign receipts for requests sealed to it. */
export interface SealingKey extends EnclaveKey {
  readonly signers?: readonly Pair[]
}

/** Further parts to seal, by field. `nonce` names the field of the part's nonce. */
export type Parts = Readonly<Record<string, { readonly bytes: Uint8Array; readonly nonce: string }>>

/** The field names of a route; `params` is null when the route seals only parts. */
export interface RouteFields {
  readonly params: string | null
  readonly kid: string
  readonly cipherText?: string
}

// This client seals only to X-Wing: an attacker must break both of its halves.
const kem = kems.find(({ name }) => name === 'x-wing')!

/** In ms: keys are verified anew a minute before their end, so that no request arrives too late. */
const early = 60_000

/** The enclave's answer to a challenge, not yet checked. */
export interface Attestation {
  readonly keyset: Uint8Array
  readonly evidence: Evidence
  readonly challenge: Uint8Array
  /** Present when the policy pins list keys without a list. */
  readonly lists?: SignedLists
  /** The receipt keys that the answer names. */
  readonly receiptKeys?: unknown
}

/** The proven keys, and the key to seal to. */
export interface Verification {
  readonly proof: ProvenKeys
  readonly key: SealingKey
  readonly evidence: Evidence
}

/** The enclave's keys, fetched and verified once and then kept in memory. */
export interface SealingKeys {
  /** A verified key to seal to. The client fetches and verifies again when it has no key, or when `fresh` is true. */
  current(fresh: boolean, signal: AbortSignal | null): Promise<SealingKey>
  /** Asks anew, under a challenge of its own; the named enclave, where there are several. */
  verified(enclave?: string): Promise<Verification>
}

/** Throws `unreachable` when no answer comes. Any status is an answer. */
const answerOf = ({ baseUrl, apiKey, fetch }: Omit<Connection, 'policy'>, path: string): Promise<Response> =>
  fetch(`${baseUrl}/${path}`, { headers: { authorization: `Bearer ${apiKey}` } }).catch((cause: unknown) => {
    throw new SealgateError('unreachable', { cause })
  })

/** A gateway of 1.0.0 has no lists: then the policy check reports the missing list. */
const askLists = async (at: Omit<Connection, 'policy'>): Promise<SignedLists> => {
  const answer = await answerOf(at, 'rvenc/releases')
  return listsIn(answer.ok ? await answer.json().catch(() => null) : null)
}

/** Sends a new challenge, and asks for the lists that the policy demands but does not contain. */
export const askAttestation = async ({ policy, ...at }: Connection, enclave?: string): Promise<Attestation> => {
  const challenge = randomBytes(32)
  const which = enclave === undefined ? '' : `&enclave=${encodeURIComponent(enclave)}`
  const answer = await answerOf(at, `rvenc/attestation?challenge=${toHex(challenge)}${which}`)
  if (!answer.ok) throw clearRefusal(answer)
  // A JSON error quotes its text, so it is dropped; our own error quotes nothing.
  const body: unknown = await answer.json().catch(() => null)
  const { keyset, evidence, receipt_keys: receiptKeys } = (body ?? {}) as Readonly<Record<string, unknown>>
  const bytes = typeof keyset === 'string' ? fromHex(keyset, 1024 * 1024) : null
  if (bytes === null || typeof evidence !== 'object' || evidence === null)
    throw new SealgateError('unverified', { reason: 'evidence_malformed' })
  const lists = needsLists(policy) ? { lists: await askLists(at) } : {}
  return { keyset: bytes, evidence: evidence as Evidence, challenge, ...lists, receiptKeys }
}

/** Throws unless the answer meets the policy and contains a key to seal to. */
export const checkAttestation = async (
  { keyset, evidence, challenge, lists, receiptKeys }: Attestation,
  policy: Policy,
  now: number,
): Promise<Verification> => {
  const proof = await verify(keyset, evidence, challenge, lists ? withLists(policy, lists) : policy, now)
  const key = newest(proof.body, kem, now)
  if (key === null) throw new SealgateError('no_key')
  return { proof, key: { ...key, signers: namedSigners(proof.body, receiptKeys) }, evidence }
}

/** Requests that need a key at the same time wait for one fetch. */
export const sealingKeys = (at: Connection): SealingKeys => {
  let held: { readonly key: SealingKey; readonly ends: number } | null = null
  let fetching: Promise<Verification> | null = null

  const fetched = async (): Promise<Verification> => {
    const found = await checkAttestation(await askAttestation(at), at.policy, Date.now())
    held = { key: found.key, ends: Math.min(found.key.notAfter, found.proof.verdict?.ends ?? Infinity) }
    return found
  }

  return {
    async current(fresh, signal) {
      if (!fresh && held !== null && Date.now() < held.ends - early) return held.key
      fetching ??= fetched().finally(() => (fetching = null))
      return (await unlessLeft(fetching, signal)).key
    },
    verified: (enclave) =>
      enclave === undefined
        ? fetched()
        : askAttestation(at, enclave).then((attestation) => checkAttestation(attestation, at.policy, Date.now())),
  }
}

/** Seals parameters and parts for one route, under a new encapsulation. `id` stays the same over retries. */
export const sealRequest = (
  key: SealingKey,
  route: string,
  params: Readonly<Record<string, unknown>>,
  id: string,
  names: RouteFields,
  parts: Parts = {},
): SealedRequest => {
  const { cipherText, sharedSecret } = agreeAhead(kem, key.publicKey)
  const nonce = freshNonce()
  const plain =
    names.params === null ? null : sealJson(sharedSecret, nonce, { ...params, $for: route, $id: id, $status: true })
  const kid = enclaveKid(key)
  const body: Record<string, unknown> = {
    ...(names.params !== null && plain !== null && { [names.params]: toHex(plain), nonce: toHex(nonce) }),
    [names.cipherText ?? 'cipherText']: toHex(cipherText),
    [names.kid]: kid,
  }
  const sealedParts: { readonly field: string; readonly bytes: readonly Uint8Array[] }[] = []
  const nonces = new Set(names.params === null ? [] : [toHex(nonce)])
  for (const [field, { bytes, nonce: field2 }] of Object.entries(parts)) {
    const own = freshNonce()
    nonces.add(toHex(own))
    body[field2] = toHex(own)
    const sealed = seal(sharedSecret, own, bytes)
    sealedParts.push({ field, bytes: [own, sealed] })
    body[field] = toHex(sealed)
  }
  const request = { body, route, secret: sharedSecret, nonce, nonces, kid, signers: key.signers ?? [] }
  if (params['receipt'] !== true) return request
  const further = [...sealedParts]
    .sort((one, other) => (one.field < other.field ? -1 : 1))
    .flatMap((part) => part.bytes)
  return { ...request, digest: requestDigest([cipherText, ...(plain === null ? [] : [nonce, plain]), ...further]) }
}

/** The enclave's sealed answer, independent of the HTTP status. */
export interface OpenedAnswer {
  readonly status: 'result' | 'failure'
  readonly value: unknown
}

/** Throws unless the answer names its route and status inside the seal, under a nonce that this client did not send. */
export const openWithStatus = (request: SealedRequest, answer: unknown): OpenedAnswer => {
  const { encryptedResponse, nonce } = (answer ?? {}) as { encryptedResponse?: unknown; nonce?: unknown }
  if (typeof encryptedResponse !== 'string' || typeof nonce !== 'string' || request.nonces.has(nonce)) {
    throw new SealgateError('damaged')
  }
  const [sealed, bytes] = [fromHex(encryptedResponse, 256 * 1024 * 1024), fromHex(nonce, 24)]
  const plain = sealed === null || bytes?.length !== 24 ? undefined : openJson(request.secret, bytes, sealed)
  const { $for: route, $status: status, value } = (plain ?? {}) as Readonly<Record<string, unknown>>
  if (route !== request.route || (status !== 'result' && status !== 'failure') || value === undefined)
    throw new SealgateError('damaged')
  return { status, value }
}

/** The sealed result. Throws for a sealed failure, even with a successful HTTP status. */
export const openAnswer = (request: SealedRequest, answer: unknown): unknown => {
  const { status, value } = openWithStatus(request, answer)
  if (status === 'failure') throw sealedFailure(value)
  return value
}

/** A failure that the enclave reports under the seal. */
export const sealedFailure = (
  value: unknown,
  facts: Partial<Pick<SealgateError, 'status' | 'retryAfter' | 'requestId'>> = {},
): SealgateError => {
  const { code, field, message } = (value ?? {}) as Readonly<Record<'code' | 'field' | 'message', unknown>>
  const { status = null, retryAfter = null, requestId = null } = facts
  return new SealgateError('failed', {
    status,
    retryAfter,
    requestId,
    code: typeof code === 'string' ? code : null,
    field: typeof field === 'string' ? field : null,
    told: typeof message === 'string' ? message : null,
  })
}

/** Statuses with a fault of their own; any other refusal is `refused`. */
const faults: Readonly<Record<number, 'unauthorized' | 'busy' | 'too_large' | 'unavailable'>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  413: 'too_large',
  429: 'busy',
  502: 'unavailable',
  503: 'unavailable',
}

/** In ms. Front doors and the Encrypted HTTP Body Protocol tell whole seconds alone. Null without a time, or for a date. */
const waitOf = ({ headers }: Response): number | null => {
  const [ms, seconds] = ['retry-after-ms', 'retry-after'].map((name) => Number(headers.get(name) || Number.NaN))
  const wait = Number.isFinite(ms) ? ms! : seconds! * 1000
  return Number.isFinite(wait) ? wait : null
}

/** Only status and headers count: the body of a refusal in the clear is not trusted. */
export const clearRefusal = (answer: Response): SealgateError =>
  new SealgateError(faults[answer.status] ?? 'refused', {
    status: answer.status,
    retryAfter: waitOf(answer),
    requestId: answer.headers.get('x-request-id'),
  })

type Agreed = ReturnType<typeof encapsulate>

/** By public key: the secret for the next request. */
const ready = new WeakMap<Uint8Array, Agreed>()
/** Keys whose next secret is being made; one at a time, so that many requests start no queue of them. */
const begun = new WeakSet<Uint8Array>()

/**
 * A new shared secret with the owner of a public key. The next secret is made while the client waits for an answer, since
 * an agreement takes longer than the rest of a seal. No secret is given twice.
 */
export const agreeAhead = (kem: Kem, publicKey: Uint8Array): Agreed => {
  const agreed = ready.get(publicKey) ?? encapsulate(kem, publicKey)
  ready.delete(publicKey)
  if (!begun.has(publicKey)) {
    begun.add(publicKey)
    setTimeout(() => {
      begun.delete(publicKey)
      ready.set(publicKey, encapsulate(kem, publicKey))
    }, 0)
  }
  return agreed
}
