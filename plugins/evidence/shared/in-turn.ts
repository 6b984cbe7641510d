import { TooMany, Unavailable } from '../../../core/errors.ts'
import type { Evidence } from '../../../core/ports/enclave.ts'

type Prove = (reportData: Uint8Array) => Promise<Evidence>

/** A question without a challenge is about the keys alone: it comes once for each keyset, and always finds room. */
const isPlain = (reportData: Uint8Array): boolean => reportData.subarray(32).every((byte) => byte === 0)

/**
 * One report at a time, since a security processor answers slowly and throttles. One challenge may wait; a further one is
 * TooMany. What the platform refuses is Unavailable.
 */
export const inTurn = (prove: Prove): Prove => {
  let turn: Promise<unknown> = Promise.resolve()
  let turns = 0
  return async (reportData) => {
    if (turns > 1 && !isPlain(reportData)) throw new TooMany('Too many questions wait for a report')
    turns++
    const proven = turn.then(() => prove(reportData))
    turn = proven.catch(() => undefined)
    try {
      return await proven
    } catch (cause) {
      throw new Unavailable(undefined, { cause })
    } finally {
      turns--
    }
  }
}
