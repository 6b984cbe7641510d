import { withDeadline } from '../../shared/stop-with.ts'
import { one } from '../../../core/container.ts'
import { Unavailable, UpstreamFailed } from '../../../core/errors.ts'
import type { Algorithm } from './issuer-settings.ts'
import { lazy, plugin } from '../../../core/plugin.ts'
import { Lifecycle } from '../../../core/lifecycle.ts'
import { Clock, Fetch, Log } from '../../../core/ports/platform.ts'
import type { PublicKey } from './public-keys.ts'

/** The public keys of issuers. They outlive reloads: a reload is no reason to ask again. */
export interface IssuerKeys {
  /**
   * The key with which a token says that it was signed; null where the issuer has no such key. Throws Unavailable where
   * the issuer can't be asked.
   */
  find(issuer: string, url: string, kid: string | null, algorithm: Algorithm): Promise<PublicKey | null>
}

export const IssuerKeys = one<IssuerKeys>('IssuerKeys')

const reading = lazy(() => Promise.all([import('../../shared/bounded-body.ts'), import('./public-keys.ts')]))

const minute = 60_000
/** Ms after which keys are asked for anew; meanwhile the ones at hand are used. */
const freshMs = 10 * minute
/** Ms after which keys are used no more, though the issuer gives no others. */
const kept = 60 * minute
/** Ms between two questions to an issuer, whatever its tokens say. */
const restMs = 5_000
/** Ms for a whole answer. */
const patienceMs = 5_000
const mostBytes = 256 * 1024

/** Asks an issuer for its keys. Throws where it gives none. */
const asking =
  (fetch: Fetch, clock: Clock, closing: AbortSignal) =>
  async (url: string): Promise<readonly PublicKey[]> => {
    const { signal, off } = withDeadline(
      clock,
      patienceMs,
      closing,
      () => new UpstreamFailed('The list of keys took too long'),
    )
    try {
      const [{ boundedBody }, { publicKeys }] = await reading()
      const answer = await fetch.upstream(url, { method: 'GET', headers: { accept: 'application/json' }, signal })
      if (answer.status !== 200) {
        answer.discard()
        throw new UpstreamFailed('The issuer gave no keys', { answered: answer.status })
      }
      return publicKeys((await boundedBody(answer, mostBytes)).toString('utf8'))
    } finally {
      off()
    }
  }

/** The keys of one issuer, asked for when they are old or lack one, and never more often than `restMs` allows. */
const keySet = (clock: Clock, ask: () => Promise<readonly PublicKey[]>, failed: (cause: unknown) => void) => {
  let keys: readonly PublicKey[] = []
  let got = -Infinity
  let tried = -Infinity
  let reached = false
  let flight: Promise<void> | null = null

  const refetch = async (): Promise<void> => {
    const now = clock.now()
    tried = now
    try {
      keys = await ask()
      got = now
      reached = true
    } catch (cause) {
      reached = false
      failed(cause)
    }
  }

  /** Waits for an answer that is under way, or asks unless that was done a moment ago. A clock that was set back may ask. */
  const renew = async (): Promise<void> => {
    const since = clock.now() - tried
    if (flight === null && since >= 0 && since < restMs) return
    flight ??= refetch().finally(() => (flight = null))
    await flight
  }

  const isAged = (most: number): boolean => {
    const age = clock.now() - got
    return age < 0 || age > most
  }

  return async (kid: string | null, algorithm: Algorithm): Promise<PublicKey | null> => {
    const suited = () => {
      const all = keys.filter((key) => key.suits(algorithm) && (kid === null || key.kid === kid))
      // Without its name a key is known only where it is the only one.
      return kid !== null || all.length === 1 ? (all[0] ?? null) : null
    }
    if (isAged(kept)) {
      await renew()
      if (isAged(kept)) throw new Unavailable('The keys of the issuer are out of reach')
    } else if (isAged(freshMs)) void renew()
    if (suited() === null) await renew()
    const found = suited()
    if (found === null && !reached) throw new Unavailable('The keys of the issuer are out of reach')
    return found
  }
}

/**
 * Keys by URL: issuers of the configuration that share a URL share one list and one pause between questions.
 */
export const issuerKeys = plugin({
  port: IssuerKeys,
  name: 'issuer-keys',
  needs: { fetch: Fetch, clock: Clock, log: Log, lifecycle: Lifecycle },
  create: ({ fetch, clock, log, lifecycle }): IssuerKeys => {
    const ask = asking(fetch, clock, lifecycle.closing)
    const sets = new Map<string, ReturnType<typeof keySet>>()
    return {
      find(issuer, url, kid, algorithm) {
        const failed = (cause: unknown) => {
          const status = cause instanceof UpstreamFailed ? cause.answered : null
          log.error('issuer.unreachable', { issuer, status }, cause)
        }
        let set = sets.get(url)
        if (set === undefined) sets.set(url, (set = keySet(clock, () => ask(url), failed)))
        return set(kid, algorithm)
      },
    }
  },
})
