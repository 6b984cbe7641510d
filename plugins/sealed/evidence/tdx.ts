import { concat, same, utf8, toHex } from '../wire/bytes.ts'
import type { Certificate } from './certificate.ts'
import { checkChain, clockSkewMs } from './chain.ts'
import type { Checks } from './checks.ts'
import { type EvidenceMembers, bytesOf, evidenceMembersOf, hasBits, isZero, member, textIn } from './fields.ts'
import type { PlatformFacts, Piece, UsedException } from './finding.ts'
import { checkSignature, digest, pointKey } from './keys.ts'
import { tdxMeasurement } from './measurement.ts'
import { readPem } from './pem.ts'
import { demand, readable, refuse } from './reasons.ts'
import { type RevocationList, checkList, checkRevocation, readList } from './revocation-list.ts'
import type { TdxRules } from './rules.ts'
import {
  checkCurrency,
  readPlatformLevels,
  readQuotingIdentity,
  type EnclaveLevel,
  type PlatformLevel,
  type PlatformLevels,
  type QuotingIdentity,
  type Status,
  statuses,
} from './tdx-collateral.ts'
import { type PckFacts, readPck } from './tdx-pck.ts'
import { type TdxBody, type TdxQuote, mostQuote, readQuote, type QuotingReport } from './tdx-quote.ts'

const mostText = 64 * 1024
const names = {
  leaf: 'Intel SGX PCK Certificate',
  authorities: ['Intel SGX PCK Platform CA', 'Intel SGX PCK Processor CA'],
  tcbSigner: 'Intel SGX TCB Signing',
}

/** A text from Intel with its signature and the two certificates of its signer. */
export interface SignedJson {
  readonly name: 'tcb_info' | 'qe_identity'
  readonly text: string
  readonly signature: Uint8Array
  readonly chain: readonly Certificate[]
}

/** The text of the certificates in a quote. */
export const pemText = (bytes: Uint8Array): string => {
  // The quoting library ends the text with a zero byte.
  const end = bytes.at(-1) === 0 ? bytes.length - 1 : bytes.length
  return String.fromCharCode(...bytes.subarray(0, end))
}

const attributes = { debug: 0xffn, septVeDisable: 1n << 28n, pks: 1n << 30n }

/**
 * Azure's paravisor stands between the domain and its module, and reports its own keys instead of ours. It measures the
 * guest into a virtual TPM, so that no register of its domain is ever extended; older ones lack the attribute, too.
 */
const isParavisor = ({ attributes: flags, rtmr }: TdxBody): boolean =>
  rtmr.every(isZero) || !hasBits(flags, attributes.septVeDisable)

const pieces = ['root_ca_crl', 'pck_crl', 'tcb_info', 'qe_identity']
const isWhole = (beside: unknown): boolean =>
  typeof beside === 'object' && beside !== null && pieces.every((name) => Object.hasOwn(beside, name))

const readEvidence = (evidence: EvidenceMembers) => {
  const quote = readQuote(bytesOf(evidence, 'quote', mostQuote))
  const beside = member(evidence, 'collateral')
  // Recorders of such guests keep no collateral, whose absence would hide the reason.
  demand(isWhole(beside) || !isParavisor(quote.body), 'platform_not_allowed', 'paravisor')
  demand(beside !== undefined, 'collateral_missing', 'collateral')
  const collateral = evidenceMembersOf(beside, 'collateral')
  const signedJson = (name: SignedJson['name']): SignedJson => ({
    name,
    text: textIn(collateral, name, mostText, 'collateral_missing'),
    signature: bytesOf(collateral, `${name}_signature`, 64, 'collateral_missing'),
    chain: readPem(textIn(collateral, `${name}_issuer_chain`, mostText, 'collateral_missing'), 2),
  })
  const list = (name: string): RevocationList => readList(bytesOf(collateral, name, mostText, 'collateral_missing'))
  return {
    quote,
    chain: readPem(pemText(quote.chain), 3),
    rootList: list('root_ca_crl'),
    pckList: list('pck_crl'),
    info: signedJson('tcb_info'),
    identity: signedJson('qe_identity'),
  }
}

const checkCertificates = async (chain: readonly Certificate[], { root }: TdxRules, now: number): Promise<void> => {
  demand(chain[0]!.commonName === names.leaf, 'chain_broken', 'name of the leaf')
  demand(names.authorities.includes(chain[1]!.commonName ?? ''), 'chain_broken', 'name of the issuer')
  await checkChain(chain, [root], now)
}

/** Throws unless Intel's unrevoked signer of patch levels signed this text. */
export const checkSignedJson = async (
  signed: SignedJson,
  rules: Pick<TdxRules, 'root'>,
  rootList: RevocationList,
  now: number,
): Promise<void> => {
  const [signer] = signed.chain as [Certificate, Certificate]
  demand(signer.commonName === names.tcbSigner, 'collateral_invalid', `signer of ${signed.name}`)
  await checkChain(signed.chain, [rules.root], now)
  checkRevocation(signer, rootList)
  const refusal = ['collateral_invalid', `signature of ${signed.name}`] as const
  await checkSignature(signer.key, 'ecdsa-sha256', signed.signature, utf8(signed.text), refusal)
}

/** Throws unless the quoting enclave vouches for the key that signed the quote. */
const checkSignatures = async (quote: TdxQuote, leaf: Certificate): Promise<void> => {
  const { quoting, quotingSignature, attestationKey, authentication } = quote
  const refusal = ['signature_invalid', 'quoting enclave'] as const
  await checkSignature(leaf.key, 'ecdsa-sha256', quotingSignature, quoting.whole, refusal)
  const bound = concat(await digest('SHA-256', concat(attestationKey, authentication)), new Uint8Array(32))
  demand(same(quoting.reportData, bound), 'signature_invalid', 'attestation key')
  const key = pointKey('p256', attestationKey)
  await checkSignature(key, 'ecdsa-sha256', quote.signature, quote.signed, ['signature_invalid', 'quote'])
}

const xfam = { needed: 0x3n, allowed: 0x6dbe7n }

const checkMachine = (body: TdxBody): void => {
  const { attributes: flags, xfam: features, serviceTd } = body
  demand((flags & attributes.debug) === 0n, 'debug', 'attributes')
  demand(!isParavisor(body), 'platform_not_allowed', 'paravisor')
  demand((flags & ~(attributes.septVeDisable | attributes.pks)) === 0n, 'policy_refused', 'attributes')
  demand(serviceTd === null || isZero(serviceTd), 'policy_refused', 'serviceTd')
  demand(hasBits(features, xfam.needed) && (features & ~xfam.allowed) === 0n, 'policy_refused', 'xfam')
}

const checkStanding = ({ status, advisories }: LevelStanding, rules: TdxRules): readonly UsedException[] => {
  demand(status !== 'Revoked', 'tcb_too_low', status)
  if (status === 'UpToDate') {
    demand(!rules.withoutAdvisories || advisories.length === 0, 'tcb_too_low', 'advisories')
    return []
  }
  const excepted = Object.hasOwn(rules.statuses, status) ? rules.statuses[status] : undefined
  if (excepted === undefined) return refuse('tcb_too_low', status)
  demand(
    advisories.every((advisory) => excepted.advisories.includes(advisory)),
    'tcb_too_low',
    `${status} with an advisory that is not excepted`,
  )
  return [excepted.used]
}

const piecesOf = (
  { chain, rootList, pckList, info, identity }: ReturnType<typeof readEvidence>,
  texts: readonly { readonly issueDate: number; readonly nextUpdate: number }[],
  grace: number,
): readonly Piece[] => [
  ...[...chain, ...info.chain, ...identity.chain].map(({ notBefore, notAfter }) => ({
    ...{ piece: 'certificate', issued: notBefore, ends: notAfter },
  })),
  { piece: 'root_ca_crl', issued: rootList.issued, ends: rootList.ends + grace },
  { piece: 'pck_crl', issued: pckList.issued, ends: pckList.ends + grace },
  ...texts.map(({ issueDate, nextUpdate }, at) => ({
    ...{ piece: at === 0 ? 'tcb_info' : 'qe_identity', issued: issueDate, ends: nextUpdate },
  })),
]

/** Throws unless Intel's data about platforms and its quoting enclave are signed and current. */
const checkPlatformData = async (
  { info, identity, rootList }: ReturnType<typeof readEvidence>,
  rules: TdxRules,
  now: number,
) => {
  await checkSignedJson(info, rules, rootList, now)
  await checkSignedJson(identity, rules, rootList, now)
  const bounds = { skew: clockSkewMs, minimumEvaluation: rules.minimumEvaluation }
  const levels = readable(() => readPlatformLevels(info.text), info.name)
  checkCurrency(levels, info.name, now, bounds)
  const quoting = readable(() => readQuotingIdentity(identity.text), identity.name)
  checkCurrency(quoting, identity.name, now, bounds)
  return { levels, quoting }
}

/** Throws unless a genuine, patched and closed trust domain made this evidence. */
export const checkTdx = async (
  evidence: EvidenceMembers,
  rules: TdxRules,
  now: number,
  checks: Checks,
): Promise<PlatformFacts> => {
  const read = await checks.run('parse', () => readEvidence(evidence))
  const { quote, chain, rootList, pckList } = read
  const [leaf, authority, root] = chain as [Certificate, Certificate, Certificate]
  await checks.run('certificates', () => checkCertificates(chain, rules, now))
  await checks.run('revocation', async () => {
    await checkList(rootList, root, now, rules.grace)
    checkRevocation(authority, rootList)
    await checkList(pckList, authority, now, rules.grace)
    checkRevocation(leaf, pckList)
  })
  const { levels, quoting } = await checks.run('platform data', () => checkPlatformData(read, rules, now))
  const pck: PckFacts = await checks.run('endorsement', () => {
    const pck = readPck(leaf)
    demand(pck.fmspc === toHex(levels.fmspc), 'collateral_invalid', 'fmspc')
    demand(pck.pceid === toHex(levels.pceId), 'collateral_invalid', 'pceid')
    demand(rules.ppids === null || rules.ppids.includes(pck.ppid), 'chip_not_allowed', 'ppid')
    return pck
  })
  await checks.run('signature', () => checkSignatures(quote, leaf))
  const standing = await checks.run('patch level', () =>
    worstStanding([
      quotingStanding(quote.quoting, quoting),
      moduleStanding(quote.body, levels),
      platformStanding(pck, quote.body, levels),
    ]),
  )
  const exceptions = await checks.run('status', () => checkStanding(standing, rules))
  await checks.run('machine', () => checkMachine(quote.body))
  const evaluation = Math.min(levels.tcbEvaluationDataNumber, quoting.tcbEvaluationDataNumber)
  const numbers = { 'Intel root': rootList.number, [`Intel ${authority.commonName}`]: pckList.number }
  return {
    reportData: quote.body.reportData,
    measurement: await tdxMeasurement(quote.body),
    registers: quote.body,
    hostData: '',
    guestSvn: 0,
    product: `TDX ${pck.fmspc}`,
    chip: pck.ppid,
    tcb: { status: standing.status, evaluation },
    collateral: piecesOf(read, [levels, quoting], rules.grace),
    seen: {
      evaluation,
      lists: Object.fromEntries(Object.entries(numbers).filter((pair): pair is [string, string] => pair[1] !== null)),
    },
    exceptions,
    warnings: standing.advisories.map((detail) => ({ code: 'advisory', detail })),
  }
}

/** The status of a patch level, and the advisories against it. */
interface LevelStanding {
  readonly status: Status
  readonly advisories: readonly string[]
}

const standingOf = ({ tcbStatus, advisoryIDs }: PlatformLevel | EnclaveLevel): LevelStanding => ({
  status: tcbStatus,
  advisories: advisoryIDs ?? [],
})

/** The worst status and all advisories. */
const worstStanding = (all: readonly LevelStanding[]): LevelStanding => {
  const worst = statuses[Math.max(...all.map(({ status }) => statuses.indexOf(status)))]!
  // Old software of one part does not hide that another part is to be configured, as Intel's own verifier has it.
  const isBoth = worst === 'OutOfDate' && all.some(({ status }) => status.startsWith('Configuration'))
  return {
    status: isBoth ? 'OutOfDateConfigurationNeeded' : worst,
    advisories: [...new Set(all.flatMap(({ advisories }) => advisories))],
  }
}

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
const quotingStanding = (report: QuotingReport, identity: QuotingIdentity): LevelStanding => {
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
const moduleStanding = (body: TdxBody, info: PlatformLevels): LevelStanding => {
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
const platformStanding = (pck: PckFacts, { tcbSvn }: TdxBody, { tcbLevels }: PlatformLevels): LevelStanding => {
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
