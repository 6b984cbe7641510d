import { BadRequest } from '../../../core/errors.ts'
import type { Clock } from '../../../core/ports/platform.ts'
import type { HeadAnswer, WantedHead } from '../log-signer.ts'
import { type HeadFacts, type LogState, isContinued } from '../wire/log.ts'
import type { HeldSigner } from './epochs.ts'

/**
 * Signs states of one log. Each state has to continue the state before, so an enclave never signs two logs that part.
 * Throws BadRequest for a state that does not continue.
 */
export const headSigning = (signer: () => HeldSigner, clock: Clock) => {
  let last: (LogState & { readonly log: string }) | null = null

  return ({ log, size, root, from, path }: WantedHead): HeadAnswer => {
    const now = { size, root }
    if (!/^[0-9a-f]{32}$/.test(log) || !isContinued(now, now, [])) throw new BadRequest('The log is malformed')
    if (last !== null && last.log !== log) throw new BadRequest('The log is another one')
    if (last !== null && last.size !== from) return { behind: last.size }
    if (last !== null && !isContinued(last, now, path)) throw new BadRequest('The log does not continue')
    const after = last?.size ?? null
    last = { log, size, root }
    const { epoch, sign } = signer()
    const facts: HeadFacts = { v: 1, log, size, root, after, epoch, at: clock.now() }
    const text = JSON.stringify(facts)
    return { text, ...sign(text) }
  }
}
