import { same } from '../wire/bytes.ts'
import { demand, refuse } from './reasons.ts'
import {
  type EnclaveLevel,
  type PlatformLevel,
  type PlatformLevels,
  type QuotingIdentity,
  type Status,
  statuses,
} from './tdx-collateral.ts'
import type { PckFacts } from './tdx-pck.ts'
import type { QuotingReport, TdxBody } from './tdx-quote.ts'

/** The status of a patch level, and the advisories against it. */
export interface LevelStanding {
  readonly status: Status
  readonly advisories: readonly string[]
}

const standingOf = ({ tcbStatus, advisoryIDs }: PlatformLevel | EnclaveLevel): LevelStanding => ({
  status: tcbStatus,
  advisories: advisoryIDs ?? [],
})

/** The worst status and all advisories. */
export const worstStanding = (all: readonly LevelStanding[]): LevelStanding => ({
  status: statuses[Math.max(...all.map(({ status }) => statuses.indexOf(status)))]!,
  advisories: [...new Set(all.flatMap(({ advisories }) => advisories))],
})

const masked = (value: Uint8Array, mask: Uint8Array): Uint8Array => value.map((byte, at) => byte & mask[at]!)

const svnsOf = (list: readonly { readonly svn: number }[]): readonly number[] => list.map(({ svn }) => svn)

const reaches = (have: readonly number[], wanted: readonly number[]): boolean =>
  wanted.every((least, at) => have[at]! >= least)

/** Sorts levels from highest to lowest, in any order of the file. */
const sorted = <T>(levels: readonly T[], key: (level: T) => readonly number[]): readonly T[] =>
  [...levels].sort((one, other) => {
    const [ours, theirs] = [key(one), key(other)]
    const at = ours.findIndex((value, at) => value !== theirs[at])
    return at === -1 ? 0 : theirs[at]! - ours[at]!
  })

const enclaveStanding = (levels: readonly EnclaveLevel[], svn: number): LevelStanding | null => {
  const found = sorted(levels, ({ tcb }) => [tcb.isvsvn]).find(({ tcb }) => svn >= tcb.isvsvn)
  return found === undefined ? null : standingOf(found)
}

/** The standing of the quoting enclave. Throws `qe_refused` unless Intel describes this enclave. */
export const quotingStanding = (report: QuotingReport, identity: QuotingIdentity): LevelStanding => {
  const { miscselect, miscselectMask, attributes, attributesMask } = identity
  demand(
    same(masked(report.miscselect, miscselectMask), masked(miscselect, miscselectMask)),
    'qe_refused',
    'miscselect',
  )
  demand(
    same(masked(report.attributes, attributesMask), masked(attributes, attributesMask)),
    'qe_refused',
    'attributes',
  )
  demand(same(report.signer, identity.mrsigner), 'qe_refused', 'signer')
  demand(report.productId === identity.isvprodid, 'qe_refused', 'product')
  return enclaveStanding(identity.tcbLevels, report.svn) ?? refuse('tcb_too_low', 'quoting enclave')
}

/** The standing of the TDX module. Throws unless Intel describes this module. */
export const moduleStanding = (body: TdxBody, info: PlatformLevels): LevelStanding => {
  const version = body.tcbSvn[1]!
  const id = `TDX_${version.toString(16).padStart(2, '0').toUpperCase()}`
  const found =
    version === 0 ? undefined : info.tdxModuleIdentities?.find((identity) => identity.id.toUpperCase() === id)
  if (version > 0 && found === undefined) return refuse('tcb_too_low', 'unknown module')
  const { mrsigner, attributes, attributesMask } = found ?? info.tdxModule
  demand(same(body.seamSigner, mrsigner), 'policy_refused', 'signer of the module')
  const fits = same(masked(body.seamAttributes, attributesMask), masked(attributes, attributesMask))
  demand(fits, 'debug', 'module')
  if (found === undefined) return { status: 'UpToDate', advisories: [] }
  return enclaveStanding(found.tcbLevels, body.tcbSvn[0]!) ?? refuse('tcb_too_low', 'module')
}

/** The standing of the platform: the first level that it reaches in every component. */
export const platformStanding = (pck: PckFacts, { tcbSvn }: TdxBody, { tcbLevels }: PlatformLevels): LevelStanding => {
  const key = ({ tcb }: PlatformLevel): readonly number[] => [
    ...svnsOf(tcb.sgxtcbcomponents),
    tcb.pcesvn,
    ...svnsOf(tcb.tdxtcbcomponents),
  ]
  // A versioned module has its own identity, which replaces the first two components.
  const from = tcbSvn[1]! > 0 ? 2 : 0
  const found = sorted(tcbLevels, key).find(
    ({ tcb }) =>
      reaches(pck.components, svnsOf(tcb.sgxtcbcomponents)) &&
      pck.pcesvn >= tcb.pcesvn &&
      reaches([...tcbSvn].slice(from), svnsOf(tcb.tdxtcbcomponents).slice(from)),
  )
  return found === undefined ? refuse('tcb_too_low', 'platform') : standingOf(found)
}
