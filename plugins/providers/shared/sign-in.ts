import { unlessAborted } from '../../../core/abort.ts'
import { garbled, readObject, retryAfterOf } from '../../shared/backend.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Ask, Clock, Fetch } from '../../../core/ports/platform.ts'

/** Ms that one sign-in may take, for all callers that wait for it. */
const patience = 10_000
/** A token is renewed so many ms before its end, or in the last fifth of a short life. */
const longestMargin = 5 * 60_000

export interface SignIn {
  /** A token with some life left. Throws UpstreamFailed when the sign-in fails, and the signal's reason. */
  token(signal: AbortSignal): Promise<string>
  /** The same where it is there; null where a call has to sign in first. */
  kept(): string | null
  /** Forgets a token that the backend refused. */
  forget(token: string): void
}

/** The request that gives a token, made anew for each sign-in. */
export type TokenRequest = () => { readonly url: string } & Pick<Ask, 'method' | 'headers' | 'body'>

/** Keeps one token for all calls. Callers that come while a sign-in runs share it, and a caller that leaves ends no sign-in. */
export const signIn = ({ fetch, clock }: { fetch: Fetch; clock: Clock }, request: TokenRequest): SignIn => {
  /** `until` lies before the end of the token, by the margin. */
  let kept: { readonly token: string; readonly until: number } | null = null
  let running: Promise<string> | null = null

  const renew = async (): Promise<string> => {
    const late = new AbortController()
    const alarm = clock.alarm(patience, () =>
      late.abort(new UpstreamFailed(undefined, { again: true, cause: new Error('No token in time') })),
    )
    try {
      const { token, lasts } = await askFor(fetch, clock, request, late.signal)
      kept = { token, until: clock.now() + lasts - Math.min(longestMargin, lasts / 5) }
      return token
    } finally {
      alarm.off()
      running = null
    }
  }

  const fresh = (): string | null => (kept !== null && clock.now() < kept.until ? kept.token : null)

  return {
    kept: fresh,
    token(signal) {
      const token = fresh()
      if (token !== null) return Promise.resolve(token)
      running ??= renew()
      return unlessAborted(running, signal)
    },
    forget(token) {
      if (kept?.token === token) kept = null
    },
  }
}

/** RFC 6749 gives the lifetime in seconds; `lasts` is in ms. */
const askFor = async (fetch: Fetch, clock: Clock, request: TokenRequest, signal: AbortSignal) => {
  const { url, ...ask } = request()
  const answer = await fetch.upstream(url, { ...ask, signal })
  const { status } = answer
  if (status < 200 || status >= 300) {
    const retryAfter = retryAfterOf(answer, clock)
    // The refusal may quote the credentials, so nobody reads it.
    answer.discard()
    const cause = new Error('The sign-in was refused')
    // A busy sign-in is no busy model: the breaker counts it as a failure.
    throw new UpstreamFailed(undefined, { again: true, answered: status === 429 ? null : status, retryAfter, cause })
  }
  const { access_token: token, expires_in } = await readObject(answer)
  const seconds = Number(expires_in)
  if (typeof token !== 'string' || token === '' || !(seconds > 0)) throw garbled('The sign-in gave no token', status)
  return { token, lasts: seconds * 1000 }
}
