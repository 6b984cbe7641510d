import { toHex } from '../wire/bytes.ts'
import { type Certificate, readCertificate } from './certificate.ts'
import { checkChain } from './chain.ts'
import type { Checks } from './checks.ts'
import { type EvidenceMembers, bytesOf, evidenceMembersOf, hasBits, member } from './fields.ts'
import type { PlatformFacts, Piece, UsedException } from './finding.ts'
import { checkSignature } from './keys.ts'
import { demand, refuse } from './reasons.ts'
import { checkList, checkRevocation, readList } from './revocation-list.ts'
import { guestPolicy, platformInfo } from './snp-bits.ts'
import { checkEndorsement, checkNames } from './snp-certificate.ts'
import { type SnpReport, readReport, reportSize } from './snp-report.ts'
import { type Product, type Tcb, lowerComponent, equalTcb } from './snp-tcb.ts'

/** The demands on an SEV-SNP machine. */
export interface SnpRules {
  readonly products: readonly Product[]
  /** SHA-256 of each product's root, in hex. */
  readonly roots: Readonly<Partial<Record<Product, string>>>
  /** The lowest accepted patch level. A product without a floor is refused. */
  readonly floors: Readonly<Partial<Record<Product, Tcb>>>
  /** Clouds whose VLEK is accepted. */
  readonly clouds: readonly string[]
  /** Chips by the hex of CHIP_ID; null for any chip. */
  readonly chips: readonly string[] | null
  /** Bits of the guest policy and the platform that must be set, by name. */
  readonly guestNeeds: Readonly<Record<string, bigint>>
  readonly platformNeeds: Readonly<Record<string, bigint>>
  readonly platformRefuses: Readonly<Record<string, bigint>>
  /** Required bits of the mitigation vectors; null when no bit is required. */
  readonly mitigations: { readonly launch: bigint; readonly current: bigint } | null
  readonly vmpl: number
  /** The exception under which CURRENT may be above COMMITTED; null without one. */
  readonly provisional: UsedException | null
  /** In ms: how long after its end a revocation list still counts. */
  readonly grace: number
}

const paravisorMark = '48434c41'
/** Family 1 and image 2, which Azure's paravisor names in the id block of every guest. */
const paravisorIdBlock = `01${'0'.repeat(30)}02${'0'.repeat(30)}`

const readEvidence = (evidence: EvidenceMembers) => {
  const hex = member(evidence, 'report')
  // Azure's paravisor puts its own header before a report, and the report names the paravisor's keys instead of ours.
  demand(typeof hex !== 'string' || !hex.startsWith(paravisorMark), 'platform_not_allowed', 'paravisor')
  const report = readReport(bytesOf(evidence, 'report', reportSize))
  const certificates = evidenceMembersOf(member(evidence, 'certificates'), 'certificates')
  const chain = ['vek', 'ica', 'ark'].map((name) => readCertificate(bytesOf(certificates, name, 4096)))
  const beside = member(evidence, 'collateral')
  demand(beside !== undefined, 'collateral_missing', 'crl')
  const list = readList(bytesOf(evidenceMembersOf(beside, 'collateral'), 'crl', 64 * 1024, 'collateral_missing'))
  return { report, chain, list }
}

const checkPlatform = ({ product, signer, idBlock }: SnpReport, rules: SnpRules): void => {
  demand(toHex(idBlock) !== paravisorIdBlock, 'platform_not_allowed', 'paravisor')
  demand(rules.products.includes(product), 'platform_not_allowed', product)
  demand(signer === 'VCEK' || rules.clouds.length > 0, 'platform_not_allowed', 'VLEK')
}

/** Returns the exceptions that the patch levels needed. */
const checkLevels = ({ product, tcbs }: SnpReport, rules: SnpRules): readonly UsedException[] => {
  const floor = rules.floors[product]
  if (floor === undefined) return refuse('tcb_too_low', `no floor is known for ${product}; a policy may state one`)
  for (const name of ['reported', 'committed', 'launch', 'current'] as const) {
    const low = lowerComponent(tcbs[name], floor)
    demand(low === null, 'tcb_too_low', `${name} ${low}`)
  }
  demand(lowerComponent(tcbs.current, tcbs.reported) === null, 'tcb_mismatch', 'reported is above current')
  if (equalTcb(tcbs.committed, tcbs.current)) return []
  return rules.provisional === null ? refuse('tcb_provisional') : [rules.provisional]
}

const checkMachine = (report: SnpReport, rules: SnpRules): void => {
  const { policy, platform, mitigations } = report
  demand(!hasBits(policy, guestPolicy.debug), 'debug', 'guest policy')
  demand(!hasBits(policy, guestPolicy.migrationAgent) && !report.migrationAgent, 'policy_refused', 'migrationAgent')
  demand(!hasBits(policy, guestPolicy.cxl), 'policy_refused', 'cxl')
  demand(report.vmpl <= rules.vmpl, 'policy_refused', 'vmpl')
  for (const [name, bit] of Object.entries(rules.guestNeeds))
    demand(hasBits(policy, bit), 'policy_refused', `guest ${name}`)
  for (const [name, bit] of Object.entries(rules.platformNeeds))
    demand(hasBits(platform, bit), 'policy_refused', `platform ${name}`)
  for (const [name, bit] of Object.entries(rules.platformRefuses))
    demand(!hasBits(platform, bit), 'policy_refused', `platform ${name}`)
  if (rules.mitigations === null) return
  const { launch, current } = rules.mitigations
  const holds = mitigations !== null && hasBits(mitigations.launch, launch) && hasBits(mitigations.current, current)
  demand(holds, 'policy_refused', 'mitigations')
}

const piecesOf = (
  chain: readonly Certificate[],
  list: { issued: number; ends: number },
  grace: number,
): readonly Piece[] => [
  ...['vek', 'ica', 'ark'].map((piece, at) => ({ piece, issued: chain[at]!.notBefore, ends: chain[at]!.notAfter })),
  { piece: 'crl', issued: list.issued, ends: list.ends + grace },
]

/** Throws unless a genuine, patched and closed machine of an allowed kind made this evidence. */
export const checkSnp = async (
  evidence: EvidenceMembers,
  rules: SnpRules,
  now: number,
  checks: Checks,
): Promise<PlatformFacts> => {
  const { report, chain, list } = await checks.run('parse', () => readEvidence(evidence))
  const [leaf, issuer, root] = chain as [Certificate, Certificate, Certificate]
  await checks.run('platform', () => checkPlatform(report, rules))
  await checks.run('certificates', async () => {
    checkNames(chain, report)
    const pinned = rules.roots[report.product]
    await checkChain(chain, pinned === undefined ? [] : [pinned], now)
  })
  await checks.run('revocation', async () => {
    await checkList(list, root, now, rules.grace)
    checkRevocation(issuer, list)
  })
  const { cloud } = await checks.run('endorsement', () => {
    const checked = checkEndorsement(leaf, report)
    demand(equalTcb(checked.tcb, report.tcbs.reported), 'tcb_mismatch')
    demand(checked.cloud === null || rules.clouds.includes(checked.cloud), 'chip_not_allowed', 'cloud')
    const allowed = rules.chips === null || rules.chips.includes(toHex(report.chip))
    demand(allowed, 'chip_not_allowed', 'chip')
    return checked
  })
  await checks.run('signature', () =>
    checkSignature(leaf.key, 'ecdsa-sha384', report.signature, report.signed, ['signature_invalid', 'report']),
  )
  const exceptions = await checks.run('patch level', () => checkLevels(report, rules))
  await checks.run('machine', () => checkMachine(report, rules))
  return {
    reportData: report.reportData,
    measurement: toHex(report.measurement),
    registers: null,
    hostData: toHex(report.hostData),
    guestSvn: report.guestSvn,
    product: report.product,
    chip: cloud === null ? toHex(report.product === 'Turin' ? report.chip.subarray(0, 8) : report.chip) : null,
    tcb: report.tcbs.reported,
    collateral: piecesOf(chain, list, rules.grace),
    seen: { lists: list.number === null ? {} : { [`AMD ${report.product}`]: list.number } },
    exceptions,
    warnings: hasBits(report.platform, platformInfo.smt) ? [{ code: 'smt', detail: 'SMT is on' }] : [],
  }
}
