import type { SealgateError } from './error.ts'
import type { Verified } from './verified.ts'
import { reasons } from '../evidence/reason-words.ts'
import type { Reason } from '../evidence/reasons.ts'

/** The first 8 characters of a long hex: a whole measurement would fill the line. */
const short = (hex: string): string => (hex.length > 16 ? `${hex.slice(0, 8)}…` : hex)
const day = (time: number): string => new Date(time).toISOString().slice(0, 10)
const minute = (time: number): string => new Date(time).toISOString().slice(0, 16).replace('T', ' ')

const names = { 'sev-snp': 'AMD SEV-SNP', tdx: 'Intel TDX', nitro: 'AWS Nitro' } as const

const platformOf = (platform: string): string =>
  Object.hasOwn(names, platform) ? names[platform as keyof typeof names] : platform

/** The patch level, component by component. */
const levelOf = ({ tcb }: Verified): string =>
  Object.entries(tcb)
    .map(([component, level]) => `${component} ${level}`)
    .join(', ')

/** Certificates of SEV-SNP; AMD calls the keys of a chip and of a cloud VEK, and the one above them ICA. */
const certificates: ReadonlyMap<string, string> = new Map([
  ['certificate', 'certificate'],
  ['vek', 'VEK'],
  ['ica', 'ICA'],
  ['ark', 'ARK'],
])

/** The chain up to the root, and each list and text that was asked, with its dates. */
const genuine = ({ collateral }: Verified): string => {
  const chain = collateral.flatMap(({ piece }) => certificates.get(piece) ?? [])
  const dated = collateral.flatMap(({ piece, issued, ends }) =>
    certificates.has(piece) ? [] : [`${piece} of ${day(issued)}, until ${day(ends)}`],
  )
  const lists = dated.length === 0 ? '' : `, not revoked (${dated.join('; ')})`
  return `genuine: ${chain.join(' → ')}${lists}`
}

/** What was proved, a line for each thing. */
export const verdictLines = (verified: Verified): readonly string[] => {
  if (verified.verified === 'development') return ['! development: proves nothing']
  const own = verified.verified === 'own' ? '! verified by a verifier of your own' : null
  const test = verified.verified === 'test' ? '! TEST PLATFORM: proves nothing' : null
  const { release, chip } = verified
  return [
    own,
    test,
    `✓ ${platformOf(verified.platform)}, ${verified.product}${chip === null ? '' : `, chip ${short(chip)}`}, ${genuine(verified)}`,
    Object.keys(verified.tcb).length > 0 ? `✓ patch level ${levelOf(verified)}` : null,
    '✓ not debuggable, and every setting of the machine is allowed',
    release === null
      ? `✓ runs measurement ${short(verified.measurement)}`
      : `✓ runs release ${release.version} (${release.state}), measurement ${short(verified.measurement)}, which covers ${release.covers}`,
    `✓ these keys, for a question asked just now: ${verified.keyset.kids.join(', ')} until ${minute(verified.keyset.ends)}`,
    ...verified.exceptions.map(
      ({ allow, until, because }) => `! excepted: ${allow} before ${day(until)}, because ${because}`,
    ),
    ...verified.warnings.map(({ detail }) => `! ${detail}`),
    `verified until ${minute(verified.ends)} UTC`,
  ].filter((line) => line !== null)
}

/** What to do about some refusals. */
const advice: Readonly<Partial<Record<Reason, string>>> = {
  no_verifier: 'Ask the operator for evidence of SEV-SNP, TDX or Nitro.',
  platform_not_allowed: 'Name the platform in the policy if you trust it.',
  collateral_expired: 'The gateway serves an old list: ask its operator to renew it.',
  collateral_missing: 'The gateway serves no list: ask its operator for it.',
  tcb_too_low: 'The machine needs its firmware updates, or the policy a floor.',
  measurement_not_allowed: 'Compare the policy with the releases that you trust.',
  release_unknown: 'Compare the policy with the releases that you trust.',
  releases_expired: 'Fetch the newest list of releases.',
  certificate_expired: 'Check the clock of this machine first.',
}

/** The checks that held, the check that failed, and the remedy. */
export const refusalLines = ({ reason, detail, checks, message }: SealgateError): readonly string[] => [
  ...checks.map(({ id, ok }) => `${ok ? '✓' : '✗'} ${id}`),
  `✗ ${message}${reason === null ? '' : `: ${reason}${detail === null ? '' : ` (${detail})`}. ${reasons[reason]}.`}`,
  ...(reason === null || advice[reason] === undefined ? [] : [advice[reason]]),
]
