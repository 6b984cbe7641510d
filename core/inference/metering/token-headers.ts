import type { Allowance, Charge, Spent } from '../../ports/rate-limiter.ts'

/** Below zero for the overdrawn allowance; null for all others, since the limiter says nothing of them. */
export const overdrawnHeaders = (
  charges: readonly Charge[],
  { refused, wait }: Spent & { readonly ok: false },
): readonly (number | null)[] =>
  charges.map(({ allowance: { most, per, until } }, at) => {
    if (at !== refused) return null
    return until === undefined ? (-wait * most) / per : 0
  })

/** Of the allowance that has the smallest part left. */
export const allowanceHeaders = (
  charges: readonly Charge[],
  left: readonly (number | null)[],
  now: number,
): Readonly<Record<string, string>> => {
  let tightest: Allowance | null = null
  let part = Infinity
  let rest = 0
  for (let i = 0; i < charges.length; i++) {
    const { allowance } = charges[i]!
    const remaining = left[i]
    if (remaining == null || remaining / allowance.most >= part) continue
    tightest = allowance
    part = remaining / allowance.most
    rest = Math.max(0, Math.floor(remaining))
  }
  if (tightest === null) return {}
  return {
    'x-ratelimit-limit-tokens': String(tightest.most),
    'x-ratelimit-remaining-tokens': String(rest),
    'x-ratelimit-reset-tokens': `${Math.ceil(wholeIn(tightest, part, now) / 1000)}s`,
  }
}

/** Ms until an allowance of which this part is left is whole. */
const wholeIn = ({ per, until }: Allowance, part: number, now: number): number =>
  until === undefined ? (1 - Math.max(0, part)) * per : Math.max(0, until - now)
