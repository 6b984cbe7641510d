import type { Allowance, Charge, Spent } from '../../../core/ports/rate-limiter.ts'

/** Below zero for the overdrawn allowance; null for all others, since the limiter says nothing of them. */
export const overdrawnHeaders = (
  charges: readonly Charge[],
  { refused, wait }: Spent & { readonly ok: false },
): readonly (number | null)[] =>
  charges.map(({ allowance: { most, per, until } }, at) => {
    if (at !== refused) return null
    return until === undefined ? (-wait * most) / per : 0
  })

type Headers = Readonly<Record<string, string>>
const none: Headers = {}

/** Each call has those of tokens. A name that is put together has to be looked up among all names. */
const headersOf = (concern: Allowance['concern'], limit: string, remaining: string, reset: string): Headers =>
  concern === 'tokens'
    ? {
        'x-ratelimit-limit-tokens': limit,
        'x-ratelimit-remaining-tokens': remaining,
        'x-ratelimit-reset-tokens': reset,
      }
    : {
        [`x-ratelimit-limit-${concern}`]: limit,
        [`x-ratelimit-remaining-${concern}`]: remaining,
        [`x-ratelimit-reset-${concern}`]: reset,
      }

/** Of the allowances of requests and of tokens that have the smallest part left. */
export const allowanceHeaders = (
  charges: readonly Charge[],
  left: readonly (number | null)[],
  now: number,
): Headers => {
  const requests = tightestHeaders('requests', charges, left, now)
  const tokens = tightestHeaders('tokens', charges, left, now)
  return requests === none ? tokens : { ...tokens, ...requests }
}

/** Of the allowance with this concern that has the smallest part left. */
export const tightestHeaders = (
  concern: Allowance['concern'],
  charges: readonly Charge[],
  left: readonly (number | null)[],
  now: number,
): Headers => {
  let tightest: Allowance | null = null
  let part = Infinity
  let rest = 0
  for (let i = 0; i < charges.length; i++) {
    const { allowance } = charges[i]!
    const remaining = left[i]
    if (allowance.concern !== concern || remaining == null || remaining / allowance.most >= part) continue
    tightest = allowance
    part = remaining / allowance.most
    rest = Math.max(0, Math.floor(remaining))
  }
  if (tightest === null) return none
  const reset = `${Math.ceil(wholeIn(tightest, part, now) / 1000)}s`
  return headersOf(concern, String(tightest.most), String(rest), reset)
}

/** Ms until an allowance of which this part is left is whole. */
const wholeIn = ({ per, until }: Allowance, part: number, now: number): number =>
  until === undefined ? (1 - Math.max(0, part)) * per : Math.max(0, until - now)
