import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../core/ports/platform.ts'
import { type Kem, type Opener, kems, opener, publicKeyOf } from '../wire/kem.ts'
import { type KeysetBody, enclaveKid } from '../wire/keyset.ts'
import type { Pair } from '../wire/signature.ts'
import { receiptKind } from '../wire/receipt-kind.ts'
import { type Signer, receiptSigner } from './receipts.ts'
import { type ReplayOutcome, type Replay, replayTables } from './replay.ts'

/** A key that this enclave opens requests with. */
export interface HeldKey {
  readonly kem: Kem
  readonly kid: string
  readonly publicKey: Uint8Array
  readonly open: Opener
  readonly replay: Replay
  readonly epoch: number
  /** Signs receipts for requests sealed to this key. */
  readonly signer: Signer
}

/** Signs states of the log of receipts. */
export interface HeldSigner {
  readonly epoch: number
  sign(text: string): Pair
}

interface Epoch {
  readonly number: number
  readonly notBefore: number
  readonly notAfter: number
  readonly keys: readonly HeldKey[]
  readonly replay: Replay
  readonly signer: Signer
}

/** What decides the keys of an enclave. */
export interface EpochSettings {
  /** In ms: the time in which clients may seal to a key. */
  readonly length: number
  readonly kems: readonly Kem['name'][]
  readonly releaseDigest: Uint8Array
}

const minute = 60_000
/** In ms: how early the next key is published, and below, how long an old key still opens requests. */
const ahead = 10 * minute
const grace = 10 * minute
/** In ms: a key without one before it is valid from so much earlier, since clocks of clients may be slow. */
const slow = 10 * minute

/**
 * Keys that exist only in this memory and are deleted after their time. The next key is published ten minutes early,
 * and an old key opens for ten more minutes. A crowded replay table ends an epoch early.
 */
export class Epochs {
  readonly #clock: Clock
  readonly #settings: EpochSettings
  readonly #replay = replayTables()
  #epochs: readonly Epoch[] = []

  constructor(clock: Clock, settings: EpochSettings) {
    this.#clock = clock
    this.#settings = settings
  }

  /** The keys to which a client may seal now or soon. */
  keyset(): KeysetBody {
    const now = this.#turn()
    const open = this.#epochs.filter(({ notAfter }) => now < notAfter)
    return {
      epoch: open.at(-1)?.number ?? 0,
      releaseDigest: this.#settings.releaseDigest,
      keys: open.flatMap(({ notBefore, notAfter, keys, signer }) => [
        ...keys.map(({ kem, publicKey }) => ({ kem: kem.id, notBefore, notAfter, publicKey })),
        { kem: receiptKind, notBefore, notAfter, publicKey: signer.hash },
      ]),
    }
  }

  /** The receipt keys whose hashes the keyset names. */
  receiptKeys(): readonly Pair[] {
    const now = this.#turn()
    return this.#epochs.filter(({ notAfter }) => now < notAfter).map(({ signer }) => signer.keys)
  }

  /** Signs for the epoch that has begun last. */
  signer(): HeldSigner {
    const now = this.#turn()
    const { number, signer } = this.#epochs.filter(({ notBefore }) => notBefore <= now).at(-1) ?? this.#epochs[0]!
    return { epoch: number, sign: signer.signHead }
  }

  /** Keys of one kind that may open a request: current, older, and the published next. Null when disabled. */
  candidates(kem: Kem): readonly HeldKey[] | null {
    if (!this.#settings.kems.includes(kem.name)) return null
    const now = this.#turn()
    const begun = this.#epochs.filter(({ notBefore }) => notBefore <= now).reverse()
    const next = this.#epochs.filter(({ notBefore }) => notBefore > now)
    return [...begun, ...next].flatMap(({ keys }) => keys.filter((key) => key.kem === kem))
  }

  /**
   * Enters the items in the replay table of the key's epoch. Refuses items that another open epoch has seen, so that a
   * request sealed again under the next key is not served twice.
   */
  enter({ replay }: HeldKey, ...items: readonly Uint8Array[]): ReplayOutcome {
    const others = this.#epochs.filter((epoch) => epoch.replay !== replay)
    return others.some((epoch) => epoch.replay.has(...items)) ? 'seen' : replay.enter(...items)
  }

  /** The key with this id, of any kind. Null when the key is unknown or expired. */
  named(kid: string): HeldKey | null {
    this.#turn()
    return this.#epochs.flatMap(({ keys }) => keys).find((key) => key.kid === kid) ?? null
  }

  /** Makes the keys that are due and drops the old ones. Returns the time, so that one moment counts. */
  #turn(): number {
    const now = this.#clock.now()
    const kept = this.#epochs.filter(({ notAfter }) => now < notAfter + grace)
    const last = kept.at(-1)
    if (last === undefined || now >= last.notAfter) kept.push(this.#made(now, now - slow))
    else if (last.notBefore <= now && last.replay.fullness() >= 0.75) kept.push(this.#made(now))
    else if (last.notBefore <= now && last.notAfter - now <= ahead) kept.push(this.#made(last.notAfter))
    for (const { notAfter, replay } of this.#epochs) if (now >= notAfter + grace) replay.close()
    this.#epochs = kept
    return now
  }

  /** The seeds come from the system's random source, and only the openers keep what is made of them. */
  #made(begin: number, notBefore = begin): Epoch {
    const replay = this.#replay()
    const signer = receiptSigner()
    const number = Math.floor(begin / 1000)
    const keys = kems
      .filter(({ name }) => this.#settings.kems.includes(name))
      .map((kem): HeldKey => {
        const seed = randomBytes(kem.seed)
        const publicKey = publicKeyOf(kem, seed)
        const kid = enclaveKid({ kem: kem.id, publicKey })
        return { kem, kid, publicKey, open: opener(kem, seed), replay, epoch: number, signer }
      })
    return { number, notBefore, notAfter: begin + this.#settings.length, keys, replay, signer }
  }
}
