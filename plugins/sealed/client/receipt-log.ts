import { type Head, type HeadFacts, type LogState, isContinued, isInLog, openHead } from '../wire/log.ts'
import { type Receipt, receiptLeaf } from '../wire/receipt.ts'
import { toHex } from '../wire/bytes.ts'
import type { Pair } from '../wire/signature.ts'
import type { Place } from '../wire/tree.ts'
import { SealgateError } from './error.ts'

/** A head whose signatures hold, and what it says. Keep it: only heads that are compared show that a log was forked. */
export interface CheckedHead {
  readonly facts: HeadFacts
  readonly head: Head
}

/** Shows that a receipt stands in the log. It holds without the gateway. */
export interface LogProof {
  readonly place: Place
  readonly head: Head
}

/** The gateway's log, of which nothing is believed without a signature of the enclave. */
export interface ReceiptLog {
  /**
   * The log as the enclave signed it last; null before its first receipt. With an earlier head, throws `forked` unless the
   * log goes on from there.
   */
  head(earlier?: LogState): Promise<CheckedHead | null>
  /** Null while the receipt waits for its entry. Throws `not_logged` when the log does not hold it. */
  proof(receipt: Receipt): Promise<(LogProof & CheckedHead) | null>
}

const refused = (): never => {
  throw new SealgateError('not_logged')
}

const forked = (): never => {
  throw new SealgateError('forked')
}

/** A log that never heard of the receipt does not hold it; every other failure stays what it is. */
const unknownReceipt = (error: unknown): never => {
  throw error instanceof SealgateError && error.status === 404
    ? new SealgateError('not_logged', { cause: error })
    : error
}

/** Throws `not_logged` unless one of these keys signed a head under which the receipt has this place. */
export const checkProof = (receipt: Receipt, { place, head }: LogProof, signers: readonly Pair[]): CheckedHead => {
  const checked = opened(head, signers) ?? refused()
  const isPlace = typeof place === 'object' && place !== null && Array.isArray(place.path)
  return isPlace && isInLog(receiptLeaf(receipt.text), place, checked.facts) ? checked : refused()
}

/** Null when no key of these signed the head. */
const opened = (head: Head | null | undefined, signers: readonly Pair[]): CheckedHead | null => {
  if (typeof head !== 'object' || head === null) return null
  const facts = signers.map((keys) => openHead(head, keys)).find((opened) => opened !== null)
  return facts === undefined ? null : { facts, head }
}

/** `signers` gives the keys of the keyset that was verified, or of the named enclave's keyset, verified anew. */
export const logOf = (
  ask: (path: string) => Promise<unknown>,
  signers: (of: { readonly enclave?: string } | null) => Promise<readonly Pair[]>,
): ReceiptLog => {
  /** The head may be of another epoch or of another enclave than the keys at hand. */
  const either = async <T>(head: Named | null | undefined, check: (signers: readonly Pair[]) => T): Promise<T> => {
    const held = await signers(null)
    try {
      return check(held)
    } catch (error) {
      if (!(error instanceof SealgateError)) throw error
      const { enclave } = head ?? {}
      return check(await signers(typeof enclave === 'string' ? { enclave } : {}))
    }
  }

  return {
    async head(earlier) {
      const path = earlier === undefined ? '' : `?from=${earlier.size}`
      const answer = (await ask(`rvenc/receipts${path}`)) as { head?: Named | null; path?: readonly unknown[] }
      // A log that has no head any more lost what an enclave once signed.
      if (answer.head === null) return earlier === undefined ? null : forked()
      const now = await either(answer.head, (keys) => opened(answer.head, keys) ?? refused())
      if (earlier !== undefined && !isContinued(earlier, now.facts, answer.path ?? [])) return forked()
      return now
    },
    async proof(receipt) {
      const answer = (await ask(`rvenc/receipts/${toHex(receiptLeaf(receipt.text))}`).catch(
        unknownReceipt,
      )) as Partial<LogProof> | null
      if (answer?.place === null) return null
      const proof = answer as LogProof
      return { ...(await either(proof.head, (keys) => checkProof(receipt, proof, keys))), place: proof.place }
    },
  }
}

/** The gateway says beside a head which enclave signed it. */
type Named = Head & { readonly enclave?: unknown }
