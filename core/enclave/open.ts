import { readPlain } from '../dialects/json.ts'
import { BadRequest, Expired, Unavailable } from '../errors.ts'
import { type Check, bytesOf, checks } from '../wire/body.ts'
import { textOf, utf8 } from '../wire/bytes.ts'
import { fromHex } from '../wire/hex.ts'
import { kemOf } from '../wire/kem.ts'
import { open } from '../wire/seal.ts'
import { Refusal } from './catalogue.ts'
import type { Epochs } from './epochs.ts'

export type Sealed = Readonly<Record<string, unknown>>

/** A request that was opened, and is entered as seen. */
export interface Opened {
  /** The sealed JSON, without what binds it. */
  readonly params: Readonly<Record<string, unknown>>
  readonly secret: Uint8Array
  readonly nonce: Uint8Array
  /** The plaintext of each further part, by its field. */
  readonly parts: Readonly<Record<string, Uint8Array>>
}

/** Which outer fields a route has: the sealed JSON, its nonce, and further parts with theirs. */
export interface Outer {
  readonly cipherText: { readonly field: 'cipherText' | 'cipher_text'; readonly check: Check }
  /** Absent where keys alone are sealed. */
  readonly params: { readonly field: string; readonly nonce: string } | null
  readonly parts: Readonly<Record<string, { readonly nonce: string; readonly check: Check }>>
  readonly kid: string
  /** The field that may be large, and how many bytes it may have. */
  readonly big?: { readonly field: string; readonly most: number }
}

const undecryptable = 'The request could not be decrypted'

/** The order of checks; from decapsulation to replay every failure is one and the same. */
export const opening =
  (epochs: Epochs, requireBinding: boolean) =>
  (route: string, outer: Outer, sealed: Sealed): Opened => {
    const text = (field: string, check: Check): string => {
      const expected = check(sealed[field])
      if (expected !== null) throw new BadRequest('Validation failed', { validator: { [field]: expected } })
      return sealed[field] as string
    }
    const cipherText = bytesOf(text(outer.cipherText.field, outer.cipherText.check))
    const params = outer.params === null ? null : bytesOf(text(outer.params.field, checks.params))
    const nonce = outer.params === null ? none : bytesOf(text(outer.params.nonce, checks.nonce))
    const parts = Object.entries(outer.parts).map(([field, { nonce, check }]) => ({
      field,
      bytes: decoded(sealed[field]) ?? bytesOf(text(field, check)),
      nonce: bytesOf(text(nonce, checks.nonce)),
      nonceText: sealed[nonce],
    }))
    const kid = sealed[outer.kid] === undefined ? null : text(outer.kid, checks.enclaveKid)

    const kem = kemOf(cipherText.length)!
    const candidates = epochs.candidates(kem)
    if (candidates === null)
      throw new BadRequest('This key encapsulation is switched off', {
        validator: { [outer.cipherText.field]: 'Expected another kind' },
      })
    const named = kid === null ? candidates : candidates.filter((key) => key.kid === kid)
    if (named.length === 0)
      throw new Expired('Unknown or expired enclave key', { validator: { [outer.kid]: 'Expected a published key' } })
    const nonces = [...(outer.params === null ? [] : [sealed[outer.params.nonce]]), ...parts.map((it) => it.nonceText)]
    if (new Set(nonces).size < nonces.length)
      throw new BadRequest('Nonces must differ', { validator: { nonce: 'Expected distinct nonces' } })

    for (const key of named) {
      const secret = decapsulated(key.open, cipherText)
      if (secret === null) continue
      const json = params === null ? {} : jsonOf(open(secret, nonce, params))
      const opened = json === undefined ? null : openParts(secret, parts)
      if (opened === null) continue
      if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new BadRequest(undecryptable)
      const { $for: bound, $id: id, ...rest } = json as Record<string, unknown>
      const entries = [cipherText, ...(typeof id === 'string' ? [fromHex(id, 64) ?? utf8(id.slice(0, 64))] : [])]
      const entered = epochs.enter(key, ...entries)
      if (entered === 'full') throw new Unavailable()
      if (entered === 'seen') throw new BadRequest(undecryptable)
      const it = { params: rest, secret, nonce, parts: opened }
      const unbound = bound === undefined ? requireBinding && params !== null : bound !== route
      if (unbound) throw new Misbound(it)
      return it
    }
    throw new BadRequest(undecryptable)
  }

/** Opened, but meant for another route: the caller is told under its own seal. */
export class Misbound extends Refusal {
  readonly opened: Opened
  constructor(opened: Opened) {
    super('sealed_elsewhere')
    this.opened = opened
  }
}

const none = new Uint8Array(24)

/** A large part, which was decoded while it came in; null for what its check has to look at. */
const decoded = (part: unknown): Uint8Array | null => (part instanceof Uint8Array && part.length > 16 ? part : null)

/** `undefined` when it did not open, is no JSON, or is nested too deep. */
const jsonOf = (plain: Uint8Array | null): unknown => {
  try {
    return plain === null ? undefined : readPlain(textOf(plain))
  } catch {
    return undefined
  }
}

interface Part {
  readonly field: string
  readonly bytes: Uint8Array
  readonly nonce: Uint8Array
}

/** All of them, or null. */
const openParts = (secret: Uint8Array, parts: readonly Part[]): Record<string, Uint8Array> | null => {
  const opened: Record<string, Uint8Array> = {}
  for (const { field, bytes, nonce } of parts) {
    const plain = open(secret, nonce, bytes)
    if (plain === null) return null
    opened[field] = plain
  }
  return opened
}

const decapsulated = (open: (cipherText: Uint8Array) => Uint8Array, cipherText: Uint8Array): Uint8Array | null => {
  try {
    return open(cipherText)
  } catch {
    return null
  }
}
