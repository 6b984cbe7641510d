import type { Clock, Log } from '../../../core/ports/platform.ts'
import type { TokenFlaw } from './token-flaws.ts'

/** Ms between two lines of the log on the same reason of the same issuer. */
const quiet = 10_000

/** Tells why tokens are refused, a line for each reason now and then. */
export const complaining = (clock: Clock, log: Log) => {
  const told = new Map<string, { readonly at: number; more: number }>()
  return (issuer: string | null, { reason, seconds }: TokenFlaw): void => {
    const name = `${issuer ?? ''}/${reason}`
    const now = clock.now()
    const last = told.get(name)
    if (last !== undefined && now >= last.at && now - last.at < quiet) return void last.more++
    told.set(name, { at: now, more: 0 })
    log.warn('login.refused', { issuer, reason, seconds, more: last?.more ?? 0 })
  }
}
