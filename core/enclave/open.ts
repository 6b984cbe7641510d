import { BadRequest, Expired, Unavailable } from '../errors.ts'
import { type Check, bytesOf, checks } from '../wire/body.ts'
import { utf8 } from '../wire/bytes.ts'
import { fromHex } from '../wire/hex.ts'
import { kemOf } from '../wire/kem.ts'
import { open, openJson } from '../wire/seal.ts'
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
  readonly params: string
  readonly nonce: string
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
    const cipherText = bytesOf(text('cipherText', checks.cipherText))
    const params = bytesOf(text(outer.params, checks.params))
    const nonce = bytesOf(text(outer.nonce, checks.nonce))
    const parts = Object.entries(outer.parts).map(([field, { nonce, check }]) => ({
      field,
      // Large parts were decoded while they came in.
      bytes: sealed[field] instanceof Uint8Array ? sealed[field] : bytesOf(text(field, check)),
      nonce: bytesOf(text(nonce, checks.nonce)),
      nonceText: sealed[nonce],
    }))
    const kid = sealed[outer.kid] === undefined ? null : text(outer.kid, checks.enclaveKid)

    const kem = kemOf(cipherText.length)!
    const candidates = epochs.candidates(kem)
    if (candidates === null)
      throw new BadRequest('This key encapsulation is switched off', {
        validator: { cipherText: 'Expected another kind' },
      })
    const named = kid === null ? candidates : candidates.filter((key) => key.kid === kid)
    if (named.length === 0)
      throw new Expired('Unknown or expired enclave key', { validator: { [outer.kid]: 'Expected a published key' } })
    const nonces = new Set([sealed[outer.nonce], ...parts.map(({ nonceText }) => nonceText)])
    if (nonces.size <= parts.length)
      throw new BadRequest('Nonces must differ', { validator: { [outer.nonce]: 'Expected distinct nonces' } })

    for (const key of named) {
      const secret = decapsulated(key.open, cipherText)
      const json = secret === null ? undefined : openJson(secret, nonce, params)
      if (secret === null || json === undefined) continue
      const opened: Record<string, Uint8Array> = {}
      for (const { field, bytes, nonce } of parts) {
        const plain = open(secret, nonce, bytes)
        if (plain === null) throw new BadRequest(undecryptable)
        opened[field] = plain
      }
      if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new BadRequest(undecryptable)
      const { $for: bound, $id: id, ...rest } = json as Record<string, unknown>
      const entries = [cipherText, ...(typeof id === 'string' ? [fromHex(id, 64) ?? utf8(id.slice(0, 64))] : [])]
      const entered = epochs.enter(key, ...entries)
      if (entered === 'full') throw new Unavailable()
      if (entered === 'seen') throw new BadRequest(undecryptable)
      const it = { params: rest, secret, nonce, parts: opened }
      if (bound === undefined ? requireBinding : bound !== route) throw new Misbound(it)
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

const decapsulated = (open: (cipherText: Uint8Array) => Uint8Array, cipherText: Uint8Array): Uint8Array | null => {
  try {
    return open(cipherText)
  } catch {
    return null
  }
}
