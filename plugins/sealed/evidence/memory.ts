import type { SeenNumbers } from './finding.ts'
import { demand } from './reasons.ts'

/** Numbers of lists have up to 20 bytes by RFC 5280, so they are compared as whole integers. */
const listNumber = (hex: string): bigint => BigInt(`0x${hex}`)

/** Throws when a number is lower than before. */
export const checkSeen = (found: SeenNumbers, before: SeenNumbers): void => {
  demand((found.evaluation ?? Infinity) >= (before.evaluation ?? 0), 'collateral_expired', 'evaluation number fell')
  for (const [issuer, number] of Object.entries(found.lists ?? {})) {
    const last = before.lists?.[issuer]
    const fell = last !== undefined && listNumber(number) < listNumber(last)
    demand(!fell, 'collateral_expired', 'number of a revocation list fell')
  }
  for (const [name, serial] of Object.entries(found.releases ?? {}))
    demand(serial >= (before.releases?.[name] ?? 0), 'releases_rolled_back')
}

/** Merges the numbers seen before with the new ones. The new numbers were checked and are not lower. */
export const mergeSeen = (before: SeenNumbers, found: SeenNumbers): SeenNumbers => ({
  ...before,
  ...found,
  lists: { ...before.lists, ...found.lists },
  releases: { ...before.releases, ...found.releases },
})
