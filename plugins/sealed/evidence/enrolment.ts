import { listHead, readDemanded } from './demanded-list.ts'
import type { ReleaseKeys } from './policy.ts'
import type { Rules } from './rules.ts'
import { hexOf, list, object, optional, text } from './shape.ts'

const format = 'sealgate-machines/1'
const about = optional(text(1, 256))

/** The one form of the file. An unknown member is refused, so that no demand is overlooked. */
const document = object({
  ...listHead(format),
  'sev-snp': optional(list(object({ chip: hexOf(8, 64), about }), 0, 65_536)),
  tdx: optional(list(object({ ppid: hexOf(16), about }), 0, 65_536)),
})

/** The operator's own machines, by their processors. */
export type Enrolment = ReturnType<typeof document>

/** Reads the list that the policy demands. Throws unless enough keys signed it and it is current. */
export const readEnrolment = (keys: ReleaseKeys, now: number): Promise<Enrolment> =>
  readDemanded(
    { name: 'machines', format, absent: ['chip_not_allowed', 'no list of machines is at hand'], read: document },
    keys,
    now,
  )

/** What the policy and the list both name. */
const both = (own: readonly string[] | null, enrolled: readonly string[]): readonly string[] =>
  own === null ? enrolled : own.filter((machine) => enrolled.includes(machine))

/** Accepts the enrolled machines alone. Nitro names no machine, so that none of its enclaves is enrolled. */
export const enrolledRules = (rules: Rules, { 'sev-snp': snp = [], tdx = [] }: Enrolment): Rules => ({
  ...rules,
  platforms: rules.platforms.filter((platform) => platform !== 'nitro'),
  snp: {
    ...rules.snp,
    chips: both(
      rules.snp.chips,
      snp.map(({ chip }) => chip.padEnd(128, '0')),
    ),
  },
  tdx: {
    ...rules.tdx,
    ppids: both(
      rules.tdx.ppids,
      tdx.map(({ ppid }) => ppid),
    ),
  },
})
