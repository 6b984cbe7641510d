import type { Seen } from './finding.ts'
import { demand } from './reasons.ts'

const listNumber = (hex: string): bigint => BigInt(`0x${hex}`)

/** Throws when anything is lower than it was seen before. */
export const checkSeen = (found: Seen, before: Seen): void => {
  demand((found.evaluation ?? Infinity) >= (before.evaluation ?? 0), 'collateral_expired', 'evaluation number fell')
  for (const [issuer, number] of Object.entries(found.lists ?? {})) {
    const last = before.lists?.[issuer]
    const fell = last !== undefined && listNumber(number) < listNumber(last)
    demand(!fell, 'collateral_expired', 'number of a revocation list fell')
  }
  for (const [name, serial] of Object.entries(found.releases ?? {}))
    demand(serial >= (before.releases?.[name] ?? 0), 'releases_rolled_back')
}

/** What was seen before, with what was found now; nothing lower than before was let through. */
export const mergeSeen = (before: Seen, found: Seen): Seen => ({
  ...before,
  ...found,
  lists: { ...before.lists, ...found.lists },
  releases: { ...before.releases, ...found.releases },
})
