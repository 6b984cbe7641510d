import { same, fromHex, toHex } from '../wire/bytes.ts'
import { type KeysetBody, enclaveKid } from '../wire/keyset.ts'
import { type Receipt, type ReceiptFacts, answerDigest, areReceiptKeys, openReceipt } from '../wire/receipt.ts'
import { receiptKind } from '../wire/receipt-kind.ts'
import { openJson } from '../wire/seal.ts'
import type { Pair } from '../wire/signature.ts'
import { SealgateError } from './error.ts'

/** A valid receipt: its facts, and the proof that others can check. */
export interface CheckedReceipt {
  readonly facts: ReceiptFacts
  readonly receipt: Receipt
}

/** The facts of a request that its receipt must name. */
export interface ReceiptRequest {
  readonly route: string
  readonly secret: Uint8Array
  readonly nonces: ReadonlySet<string>
  /** The digest of the sealed request; absent when no receipt was asked for. */
  readonly digest?: Uint8Array
  readonly kid: string
  readonly signers: readonly Pair[]
}

/** In bytes: two signatures, a path and the facts have about 8 KiB in hex. */
const mostReceipt = 64 * 1024

const refused = (): never => {
  throw new SealgateError('no_receipt')
}

/** The receipt keys of an answer that the verified keyset names. Other keys are dropped. */
export const namedSigners = ({ keys }: KeysetBody, named: unknown): readonly Pair[] => {
  if (!Array.isArray(named)) return []
  const hashes = keys.filter(({ kem }) => kem === receiptKind).map(({ publicKey }) => publicKey)
  const isNamed = (pair: Partial<Pair> | null): pair is Pair =>
    typeof pair?.ed25519 === 'string' &&
    typeof pair.ml_dsa_65 === 'string' &&
    hashes.some((hash) => areReceiptKeys({ ed25519: pair.ed25519!, ml_dsa_65: pair.ml_dsa_65! }, hash))
  return named.slice(0, 16).filter(isNamed)
}

/** True when one of the keyset's own keys has this id. */
export const isNamedKey = ({ keys }: KeysetBody, kid: string): boolean => keys.some((key) => enclaveKid(key) === kid)

/** Throws unless one of these keys signed that this answer belongs to this request. */
export const checkReceipt = (evidence: unknown, request: ReceiptRequest, answer: Uint8Array): CheckedReceipt => {
  const { digest, route, kid } = request
  if (digest === undefined || typeof evidence !== 'object' || evidence === null) return refused()
  const receipt = evidence as Receipt
  const facts = request.signers.map((keys) => openReceipt(receipt, keys)).find((opened) => opened !== null)
  if (facts === undefined) return refused()
  const names = (value: string, wanted: Uint8Array): boolean => same(fromHex(value, 32) ?? new Uint8Array(), wanted)
  const fits = names(facts.request, digest) && names(facts.answer, answer) && facts.route === route && facts.key === kid
  return fits ? { facts, receipt } : refused()
}

/** The receipt beside a whole answer. Throws when it is missing or invalid. */
export const receiptBeside = (request: ReceiptRequest, answer: unknown): CheckedReceipt => {
  const body = (answer ?? {}) as Readonly<Record<string, unknown>>
  const bytes = (name: string, most: number): Uint8Array => {
    const value = body[name]
    return (typeof value === 'string' ? fromHex(value, most) : null) ?? refused()
  }
  const [sealed, nonce] = [bytes('encryptedReceipt', mostReceipt), bytes('receiptNonce', 24)]
  const own = bytes('nonce', 24)
  if (nonce.length !== 24 || same(nonce, own) || request.nonces.has(toHex(nonce))) return refused()
  const receipt = openJson(request.secret, nonce, sealed)
  return checkReceipt(receipt, request, answerDigest(own, bytes('encryptedResponse', 256 * 1024 * 1024)))
}
