import { toHex, fromHex, concat, same, utf8 } from '../wire/bytes.ts'
import { type Check, type Checks, newChecks } from './checks.ts'
import { type EvidenceMembers, evidenceMembersOf, member } from './fields.ts'
import type { PlatformFacts, Piece, UsedException, Warning, SeenNumbers } from './finding.ts'
import { floorsLifeMs, floorsOf } from './floors.ts'
import { type PlatformPolicy, type ReadPolicy, type SignedText, readPolicy } from './policy.ts'
import { platformOf, platforms } from './platforms.ts'
import type { Platform } from './profiles.ts'
import { demand, refuse } from './reasons.ts'
import type { Enrolment } from './enrolment.ts'
import type { Notices } from './notices.ts'
import { type Release, type Releases, type State, readReleases } from './releases.ts'
import { digest } from './keys.ts'
import { type Rules, rulesOf } from './rules.ts'

/** The values that the evidence must contain. */
export interface Question {
  /** SHA-256 over the keyset: the first half of report_data. */
  readonly keysetHash: Uint8Array
  /** 32 bytes chosen by the client. */
  readonly challenge: Uint8Array
  /** The release digest in the keyset. */
  readonly releaseDigest: Uint8Array
  /** A list of releases from another source; without it, the policy's own list counts. */
  readonly releases?: SignedText
  readonly now: number
}

/** The proven facts. Times in ms. */
export interface Verdict {
  /** `test` when the policy names test roots for the platform: such evidence proves nothing. */
  readonly verified: 'platform' | 'test'
  readonly platform: Platform
  readonly product: string
  /** In hex. */
  readonly measurement: string
  /** Null when the policy names measurements without releases. */
  readonly release: {
    readonly version: string
    readonly digest: string
    readonly state: State
    readonly covers: string
  } | null
  /** In hex; null when the platform, or a cloud's key, names no chip. */
  readonly chip: string | null
  /** The patch level by its components, as the platform counts them. */
  readonly tcb: Readonly<Record<string, number | string>>
  readonly challenge: true
  readonly collateral: readonly Piece[]
  readonly exceptions: readonly UsedException[]
  readonly warnings: readonly Warning[]
  /** All checks in their order; each of them held. */
  readonly checks: readonly Check[]
  /** The earliest end of any certificate, list or text used. */
  readonly ends: number
}

export { platformOf, platforms }
export { type PlatformPolicy, PolicyError, parsePolicy } from './policy.ts'

/** Loads only the verifier of the given platform, so that a page stays small. */
const find = async (
  platform: Platform,
  evidence: EvidenceMembers,
  rules: Rules,
  now: number,
  checks: Checks,
): Promise<PlatformFacts> => {
  switch (platform) {
    case 'sev-snp':
      return (await import('./snp.ts')).checkSnp(evidence, rules.snp, now, checks)
    case 'tdx':
      return (await import('./tdx.ts')).checkTdx(evidence, rules.tdx, now, checks)
    case 'nitro':
      return (await import('./nitro.ts')).checkNitro(evidence, rules.nitro, now, checks)
  }
}

/** All images with this measurement, since several releases may share one image. */
const imagesOf = (list: Releases, platform: Platform, { measurement }: PlatformFacts) =>
  list.releases.flatMap((release) =>
    release.images
      .filter((image) => image.platform === platform && image.measurement === measurement)
      .map((image) => ({ release, image })),
  )

/** Throws unless the policy or a list names this image. A policy that names neither verifies nothing. */
const checkMeasurement = (rules: Rules, list: Releases | null, platform: Platform, found: PlatformFacts): void => {
  demand(rules.measurements !== null || list !== null, 'measurement_not_allowed', 'the policy names none')
  const named = rules.measurements === null || rules.measurements.includes(found.measurement)
  demand(named, 'measurement_not_allowed')
  if (list === null) {
    demand(/^0*$/.test(found.hostData), 'policy_refused', 'hostData')
    return
  }
  const images = imagesOf(list, platform, found)
  demand(images.length > 0, 'measurement_not_allowed')
  const hosted = images.filter(({ image }) => image.hostData === found.hostData)
  demand(hosted.length > 0, 'policy_refused', 'hostData')
  demand(
    hosted.some(({ image }) => found.guestSvn >= image.guestSvn),
    'policy_refused',
    'guestSvn',
  )
}

/** Finds the release with this digest and this image; one of the two alone proves nothing. */
const checkRelease = (
  rules: Rules,
  list: Releases | null,
  platform: Platform,
  found: PlatformFacts,
  { releaseDigest, now }: Question,
): Release | null => {
  const digest = toHex(releaseDigest)
  demand(!rules.withdrawn.includes(digest), 'release_withdrawn', 'by a notice')
  demand(rules.digests === null || rules.digests.includes(digest), 'release_unknown')
  if (list === null) return null
  const pairs = imagesOf(list, platform, found).filter(
    ({ release, image }) =>
      release.digest === digest && image.hostData === found.hostData && found.guestSvn >= image.guestSvn,
  )
  demand(pairs.length > 0, 'release_unknown')
  const withdrawn = pairs.find(({ release }) => release.state === 'withdrawn')
  demand(withdrawn === undefined, 'release_withdrawn', withdrawn?.release.version)
  const [alive] = pairs.filter(({ release }) => release.until === undefined || now <= release.until)
  return alive?.release ?? refuse('release_withdrawn', 'its time is over')
}

/** Null when the policy demands no list. Throws when a list is demanded and none is at hand. */
const listOf = async (rules: Rules, { releases, now }: Question): Promise<Releases | null> => {
  if (rules.releases === null) return null
  const signed = releases ?? rules.releases.document
  return signed === undefined
    ? refuse('release_unknown', 'no list of releases is at hand')
    : readReleases(signed, rules.releases, now)
}

/** Without enrolled machines, any machine passes that runs the same image, of any owner. */
const anyMachine = { code: 'any_machine', detail: 'Any machine of the world with this image passes: none is enrolled' }

const isEnrolled = ({ snp, tdx }: Rules, platform: Platform): boolean =>
  platform === 'sev-snp' ? snp.chips !== null : platform === 'tdx' && tdx.ppids !== null

/** Facts that refuse nothing, and that people should know. */
const warningsOf = (rules: Rules, platform: Platform, found: PlatformFacts, now: number): readonly Warning[] => [
  ...(isEnrolled(rules, platform) ? [] : [anyMachine]),
  ...found.warnings,
  ...(now - Date.parse(floorsOf) > floorsLifeMs
    ? [{ code: 'floors_old', detail: `The built-in floors are of ${floorsOf}` }]
    : []),
  ...(rules.digests === null && rules.releases === null
    ? [{ code: 'configuration_unchecked', detail: 'The policy names measurements alone, and no release' }]
    : []),
]

/** Applies the notices that the policy demands. A policy without notices loads no code for them. */
const noticed = async ({ notices: keys }: ReadPolicy, rules: Rules, now: number) => {
  if (keys === undefined) return { notices: null, rules }
  const { readNotices, tightenedRules: tightened } = await import('./notices.ts')
  const notices = await readNotices(keys, now)
  return { notices, rules: tightened(rules, notices) }
}

/** Accepts enrolled machines alone, where the policy demands their list. A policy without one loads no code for it. */
const enrolling = async ({ machines: keys }: ReadPolicy, rules: Rules, now: number) => {
  if (keys === undefined) return { enrolment: null, rules }
  const { readEnrolment, enrolledRules } = await import('./enrolment.ts')
  const enrolment = await readEnrolment(keys, now)
  return { enrolment, rules: enrolledRules(rules, enrolment) }
}

/** An operator may give lists of several formats one name, and each has serials of its own. */
const seenName = (list: { readonly name: string; readonly format?: string }): string =>
  list.format === undefined ? list.name : `${list.format} ${list.name}`

/** Throws when a number is lower than remembered. `list` has releases; the other lists are notices and machines. */
const remember = async (
  read: ReadPolicy,
  found: PlatformFacts,
  list: Releases | null,
  others: readonly (Notices | Enrolment | null)[],
  checks: Checks,
): Promise<void> => {
  const lists = [list, ...others].filter((text) => text !== null)
  const seen = { ...found.seen, releases: Object.fromEntries(lists.map((list) => [seenName(list), list.serial])) }
  // What is signed counts from here on, also when it refuses what runs.
  if (read.memory !== undefined) {
    const before = await read.memory.load()
    await checks.run('memory', () => checkSeen(seen, before))
    await read.memory.save(mergeSeen(before, seen))
  }
}

/** Throws unless the policy accepts this type of platform, in the one known version of the format. */
const typed = (evidence: unknown, rules: Rules): { fields: EvidenceMembers; platform: Platform } => {
  const fields = evidenceMembersOf(evidence, 'evidence')
  const platform = platformOf(member(fields, 'type')) ?? refuse('no_verifier')
  demand(rules.platforms.includes(platform), 'platform_not_allowed', platform)
  demand(member(fields, 'v') === 1, 'evidence_malformed', 'v')
  return { fields, platform }
}

/**
 * Checks a platform's evidence for these keys, with any code: for operators of an enclave, and for services, whose images
 * are judged elsewhere. The signed lists are pieces too. Throws a `Refusal`.
 */
export const inspect = async (
  evidence: unknown,
  policy: PlatformPolicy,
  { keysetHash, challenge, now }: Pick<Question, 'keysetHash' | 'challenge' | 'now'>,
  checks: Checks = newChecks(),
): Promise<PlatformFacts> => {
  const read = readPolicy(policy)
  const stated = rulesOf(read, now)
  const { notices, rules: known } = await checks.run('notices', () => noticed(read, stated, now))
  const { enrolment, rules } = await checks.run('machines', () => enrolling(read, known, now))
  const { fields, platform } = await checks.run('type', () => typed(evidence, rules))
  const found = await find(platform, fields, rules, now, checks)
  await checks.run('report data', () => checkReportData(fields, found.reportData, keysetHash, challenge))
  await remember(read, found, null, [notices, enrolment], checks)
  const lists = [notices, enrolment].filter((list) => list !== null)
  const pieces = lists.map(({ name, issued, ends }) => ({ piece: name, issued, ends }))
  const warnings = isEnrolled(rules, platform) ? found.warnings : [anyMachine, ...found.warnings]
  return { ...found, collateral: [...found.collateral, ...pieces], warnings }
}

/**
 * Throws a `Refusal` or a `PolicyError` unless the evidence answers the question as the policy demands. `checks` lists
 * every check that ran.
 */
export const appraise = async (
  evidence: unknown,
  policy: PlatformPolicy,
  question: Question,
  checks: Checks = newChecks(),
): Promise<Verdict> => {
  const { now } = question
  const read: ReadPolicy = readPolicy(policy)
  const stated = rulesOf(read, now)
  const { notices, rules: known } = await checks.run('notices', () => noticed(read, stated, now))
  const { enrolment, rules } = await checks.run('machines', () => enrolling(read, known, now))
  const { fields, platform } = await checks.run('type', () => typed(evidence, rules))
  const found = await find(platform, fields, rules, now, checks)
  const list = await checks.run('releases', () => listOf(rules, question))
  const lists = [list, notices, enrolment].filter((text) => text !== null)
  await remember(read, found, list, [notices, enrolment], checks)
  await checks.run('measurement', () => checkMeasurement(rules, list, platform, found))
  const release = await checks.run('release', () => checkRelease(rules, list, platform, found, question))
  await checks.run('report data', () =>
    checkReportData(fields, found.reportData, question.keysetHash, question.challenge),
  )
  return {
    verified: rules.isTest(platform) ? 'test' : 'platform',
    platform,
    product: found.product,
    measurement: found.measurement,
    release: release && {
      version: release.version,
      digest: release.digest,
      state: release.state,
      covers: release.covers,
    },
    chip: found.chip,
    tcb: found.tcb,
    challenge: true,
    collateral: found.collateral,
    exceptions: found.exceptions,
    warnings: warningsOf(rules, platform, found, now),
    checks: checks.done,
    ends: Math.min(
      ...found.collateral.map(({ ends }) => ends),
      ...found.exceptions.map(({ until }) => until),
      ...lists.map(({ ends }) => ends),
      ...(release?.until === undefined ? [] : [release.until]),
    ),
  }
}

/** Numbers of lists have up to 20 bytes by RFC 5280, so they are compared as whole integers. */
const listNumber = (hex: string): bigint => BigInt(`0x${hex}`)

/** Throws when a number is lower than before. */
const checkSeen = (found: SeenNumbers, before: SeenNumbers): void => {
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
const mergeSeen = (before: SeenNumbers, found: SeenNumbers): SeenNumbers => ({
  ...before,
  ...found,
  lists: { ...before.lists, ...found.lists },
  releases: { ...before.releases, ...found.releases },
})

/** One report answers up to 1,024 challenges, since a platform makes few reports a second. */
const pathLimits = { size: 1024, path: 10 }

/** The first byte, 0, keeps a challenge from passing as a node of the tree, which begins with 1. */
const leafOf = (challenge: Uint8Array): Promise<Uint8Array> =>
  digest('SHA-256', concat(Uint8Array.of(0), utf8('rvenc-challenge/1\0'), challenge))

const nodeOf = (left: Uint8Array, right: Uint8Array): Promise<Uint8Array> =>
  digest('SHA-256', concat(Uint8Array.of(1), left, right))

/** An integer from `least`, below `below`. Throws `evidence_malformed` for any other value. */
const numberIn = (fields: EvidenceMembers, name: string, least: number, below: number): number => {
  const value = member(fields, name)
  const fits = Number.isInteger(value) && (value as number) >= least && (value as number) < below
  return fits ? (value as number) : refuse('evidence_malformed', 'batch')
}

/** The root over many challenges, including ours. Throws when the path has a wrong length. */
const rootOf = async (batch: EvidenceMembers, challenge: Uint8Array): Promise<Uint8Array> => {
  let size = numberIn(batch, 'size', 2, pathLimits.size + 1)
  let index = numberIn(batch, 'index', 0, size)
  const steps = member(batch, 'path')
  if (!Array.isArray(steps) || steps.length > pathLimits.path) return refuse('evidence_malformed', 'batch')
  const path = steps.map((step: unknown) => (typeof step === 'string' ? fromHex(step, 32) : null))
  let node = await leafOf(challenge)
  let at = 0
  for (; size > 1; size = (size + 1) >> 1, index >>= 1) {
    // The last node of an odd level has no neighbour and moves up unchanged.
    if (index % 2 === 0 && index === size - 1) continue
    const other = path[at++]
    if (other?.length !== 32) return refuse('evidence_malformed', 'batch')
    node = index % 2 === 0 ? await nodeOf(node, other) : await nodeOf(other, node)
  }
  demand(at === path.length, 'evidence_malformed', 'batch')
  return node
}

/** Throws unless these 64 bytes contain exactly this keyset and this challenge, alone or in a batch. */
export const checkReportData = async (
  evidence: EvidenceMembers,
  reportData: Uint8Array,
  keysetHash: Uint8Array,
  challenge: Uint8Array,
): Promise<void> => {
  const batch = member(evidence, 'batch')
  const half = batch === undefined ? challenge : await rootOf(evidenceMembersOf(batch, 'batch'), challenge)
  demand(half.length === 32 && same(reportData, concat(keysetHash, half)), 'report_data_mismatch')
}
