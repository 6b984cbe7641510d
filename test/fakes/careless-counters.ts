import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import type { Upstream } from '../../core/ports/upstream.ts'
import type { Counter } from '../contracts/counter.ts'

type Count = NonNullable<Upstream['countTokens']>

/** The right counter, with its counts changed. */
const but =
  (change: (count: Count) => Count) =>
  (right: Counter): Partial<Counter> => ({
    upstream: { ...right.upstream, countTokens: change(right.upstream.countTokens!) },
  })

const butFaults = (change: (fault: any) => unknown) =>
  but((count) => (call, signal) => count(call, signal).catch((fault) => Promise.reject(change(fault))))

/** For each promise a counter that breaks it. */
export const careless = {
  'tells the tokens that the backend counts': but((count) => async (call, signal) => {
    const counted = await count(call, signal)
    return counted && { tokens: counted.tokens + 1 }
  }),
  'asks for a count and for no answer': (right: Counter): Partial<Counter> => ({
    asked: () => ({ ...right.asked(), stream: false }),
  }),
  'a refusal is the caller’s, without a word of the backend': butFaults(
    ({ cause }) => new BadRequest(cause.message, { cause }),
  ),
  'too many requests: again, and when': butFaults(
    ({ cause }) => new UpstreamFailed(undefined, { again: true, answered: 429, cause }),
  ),
  'its own failures and our credentials are not the caller’s fault': butFaults(
    (cause) => new BadRequest('Refused', { cause }),
  ),
  'what is no count is a failure': but((count) => (call, signal) => count(call, signal).catch(() => ({ tokens: 0 }))),
  'stops while it waits for a count': butFaults(() => new UpstreamFailed()),
}
