import { createHash } from 'node:crypto'
import t from 'tap'
import { type Question, appraise, inspect } from '../../../../plugins/sealed/evidence/appraise.ts'
import { newChecks } from '../../../../plugins/sealed/evidence/checks.ts'
import type { SeenNumbers } from '../../../../plugins/sealed/evidence/finding.ts'
import { readNotices } from '../../../../plugins/sealed/evidence/notices.ts'
import {
  type PlatformPolicy,
  PolicyError,
  parsePolicy,
  readPolicy,
} from '../../../../plugins/sealed/evidence/policy.ts'
import { Refusal } from '../../../../plugins/sealed/evidence/reasons.ts'
import { readReleases } from '../../../../plugins/sealed/evidence/releases.ts'
import { toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { releaseSigner, signedList } from '../../../fakes/platform/releases.ts'
import { type SnpOptions, makeSnp, chipOf } from '../../../fakes/platform/snp.ts'
import { makeTdx } from '../../../fakes/platform/tdx.ts'
import { fuzzed } from './fuzz.ts'
import { hexSample, pem, refusal, sample } from './samples.ts'

const now = Date.parse('2026-11-10T12:00:00Z')
const day = 86_400_000
const sha256 = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return new Uint8Array(hash.digest())
}
const keysetHash = sha256(Buffer.from('keyset'))
const challenge = sha256(Buffer.from('challenge'))
const releaseDigest = sha256(Buffer.from('configuration'))
const question: Question = { keysetHash, challenge, releaseDigest, now }
const measurement = 'ab'.repeat(48)
const bound = (challenge: Uint8Array): Uint8Array => Uint8Array.from([...keysetHash, ...challenge])

const snp = (options: Partial<SnpOptions> = {}) => makeSnp({ now, reportData: bound(challenge), ...options })
const genoa = snp()
const policy: PlatformPolicy = { measurements: [measurement], testRoots: { 'sev-snp': genoa.roots } }

const said = (evidence: object, own: PlatformPolicy = policy, asked: Partial<Question> = {}) =>
  refusal(() => appraise(evidence, own, { ...question, ...asked }))

const of = (made: ReturnType<typeof snp>, own: PlatformPolicy = policy): PlatformPolicy => ({
  ...own,
  testRoots: { 'sev-snp': made.roots },
})

t.test('a proof by the test platform never counts as a platform', async (t) => {
  const checks = newChecks()
  const verdict = await appraise(genoa.evidence, policy, question, checks)
  t.equal(verdict.verified, 'test', 'it is called a test')
  t.match(verdict, {
    verified: 'test',
    platform: 'sev-snp',
    product: 'Genoa',
    measurement,
    release: null,
    challenge: true,
    ends: now + 107 * day,
  })
  t.strictSame(
    verdict.warnings.map(({ code }) => code),
    ['any_machine', 'smt', 'configuration_unchecked'],
  )
  const chips = { ...policy, 'sev-snp': { ...policy['sev-snp'], chips: [verdict.chip!] } }
  const enrolled = await appraise(genoa.evidence, chips, question)
  t.strictSame(
    enrolled.warnings.map(({ code }) => code),
    ['smt', 'configuration_unchecked'],
    'an enrolled machine',
  )
  t.ok(verdict.checks.every(({ ok }) => ok))
  t.ok(verdict.checks.length >= 12)
  const { testRoots: _, ...without } = policy
  t.equal(await said(genoa.evidence, without), 'root_unknown')
})

t.test('the types of evidence', async (t) => {
  for (const type of ['azure', 'constructor', '__proto__', 'toString', 1, undefined, 'dev', 'arm-cca'])
    t.equal(await said({ ...genoa.evidence, type }), 'no_verifier', String(type))
  t.equal(await said({ ...genoa.evidence, v: 2 }), 'evidence_malformed: v')
  t.equal(await said({ ...genoa.evidence, v: undefined }), 'evidence_malformed: v')
  t.equal(await said(null as unknown as object), 'evidence_malformed: evidence')
  t.equal(await said([genoa.evidence]), 'evidence_malformed: evidence')
  t.equal(await said(genoa.evidence, { ...policy, platforms: ['tdx'] }), 'platform_not_allowed: sev-snp')
  const { subtle } = globalThis.crypto
  Object.defineProperty(globalThis.crypto, 'subtle', { value: undefined, configurable: true })
  const without = await said(genoa.evidence)
  Object.defineProperty(globalThis.crypto, 'subtle', { value: subtle, configurable: true })
  t.equal(without, 'no_crypto')
})

t.test('measurements', async (t) => {
  const { measurements: _, ...none } = policy
  const nothing = 'measurement_not_allowed: the policy names none'
  t.equal(await said(genoa.evidence, none), nothing, 'no measurements')
  t.equal(await said(genoa.evidence, { ...none, measurements: [] }), 'measurement_not_allowed')
  t.equal(await said(genoa.evidence, { ...none, measurements: ['cd'.repeat(48)] }), 'measurement_not_allowed')
  t.equal(await said(genoa.evidence, { ...none, measurements: ['AB'.repeat(48)] }), null, 'upper case')
  const digest = toHex(releaseDigest)
  t.equal(await said(genoa.evidence, { ...none, releases: [digest] }), 'measurement_not_allowed: the policy names none')
  t.equal(await said(genoa.evidence, { ...policy, releases: [digest] }), null)
  t.equal(await said(genoa.evidence, { ...policy, releases: ['00'.repeat(32)] }), 'release_unknown')
  t.equal(await said(genoa.evidence, { ...policy, releases: [] }), 'release_unknown')
  const hosted = snp({ report: (bytes) => bytes.fill(1, 0xc0, 0xe0) })
  t.equal(await said(hosted.evidence, of(hosted)), 'policy_refused: hostData')
})

t.test('report data', async (t) => {
  const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))
  for (const at of [0, 15, 31]) {
    const other = { keysetHash: flipped(keysetHash, at) }
    t.equal(await said(genoa.evidence, policy, other), 'report_data_mismatch', `another keyset, byte ${at}`)
    const asked = { challenge: flipped(challenge, at) }
    t.equal(await said(genoa.evidence, policy, asked), 'report_data_mismatch', `another challenge, byte ${at}`)
  }
  t.equal(await said(genoa.evidence, policy, { challenge: new Uint8Array(0) }), 'report_data_mismatch')
})

t.test('an operator who looks at an enclave sees whether the evidence is about its keys', async (t) => {
  const own = { testRoots: policy.testRoots! }
  const seen = (asked: Partial<Question>) => refusal(() => inspect(genoa.evidence, own, { ...question, ...asked }))
  t.equal((await inspect(genoa.evidence, own, question)).measurement, measurement)
  t.equal(await seen({ keysetHash: challenge }), 'report_data_mismatch')
  t.equal(await seen({ challenge: keysetHash }), 'report_data_mismatch')
})

/** The tree as the gateway builds it: each level is hashed in pairs, and an odd node moves up. */
const tree = (challenges: readonly Uint8Array[], index: number) => {
  let nodes = challenges.map((challenge) => sha256(Uint8Array.of(0), Buffer.from('rvenc-challenge/1\0'), challenge))
  const path: string[] = []
  for (let at = index; nodes.length > 1; at >>= 1) {
    const other = nodes[at ^ 1]
    if (other !== undefined) path.push(toHex(other))
    nodes = nodes
      .filter((_, at) => at % 2 === 0)
      .map((left, at) => (nodes[2 * at + 1] === undefined ? left : sha256(Uint8Array.of(1), left, nodes[2 * at + 1]!)))
  }
  return { root: nodes[0]!, batch: { index, size: challenges.length, path } }
}

t.test('one report answers a batch of challenges', async (t) => {
  const challenges = Array.from({ length: 13 }, (_, at) => sha256(Uint8Array.of(at)))
  for (const size of [2, 3, 5, 8, 13])
    for (const index of new Set([0, 1, size - 1])) {
      const { root, batch } = tree(challenges.slice(0, size), index)
      const made = snp({ reportData: bound(root) })
      const asked = { challenge: challenges[index]! }
      const tried = (other: object) => said({ ...made.evidence, batch: { ...batch, ...other } }, of(made), asked)
      t.equal(await tried({}), null, `${index} of ${size}`)
      t.equal(await tried({ path: [...batch.path, '00'.repeat(32)] }), 'evidence_malformed: batch')
      t.equal(await tried({ path: batch.path.slice(1) }), 'evidence_malformed: batch')
      t.equal(await said({ ...made.evidence, batch }, of(made)), 'report_data_mismatch', 'another challenge')
    }
  const { root, batch } = tree(challenges.slice(0, 4), 2)
  const made = snp({ reportData: bound(root) })
  const tried = (other: unknown) => said({ ...made.evidence, batch: other }, of(made), { challenge: challenges[2]! })
  t.equal(await tried({ ...batch, index: 3 }), 'report_data_mismatch')
  for (const change of [
    { index: 4 },
    { index: -1 },
    { index: 0.5 },
    { size: 1, index: 0 },
    { size: 1025 },
    { path: 'x' },
    { path: [1, 2] },
    { path: ['00', '00'] },
  ])
    t.equal(await tried({ ...batch, ...change }), 'evidence_malformed: batch', JSON.stringify(change))
  t.equal(await tried(null), 'evidence_malformed: batch')
  // A root that is shown as a challenge of its own is no leaf.
  t.equal(await said({ ...made.evidence }, of(made), { challenge: challenges[2]! }), 'report_data_mismatch')
})

const [first, second, third] = [releaseSigner(), releaseSigner(), releaseSigner()]
const image = { measurement, vcpus: 8 }
const release = {
  version: '1.4.2',
  digest: toHex(releaseDigest),
  state: 'current',
  covers: 'firmware, kernel, root file system',
  'sev-snp': [image],
}
const list = {
  format: 'sealgate-releases/1',
  name: 'example',
  serial: 7,
  issued: now - day,
  ends: now + 30 * day,
  releases: [release],
}
const keys = { keys: [first.key, second.key, third.key], threshold: 2 }
const listed = (change: object = {}, signers = [first, second], format?: string): PlatformPolicy => ({
  testRoots: policy.testRoots!,
  releases: { ...keys, document: signedList({ ...list, ...change }, signers, format) },
})

t.test('releases name pairs of image and digest', async (t) => {
  const verdict = await appraise(genoa.evidence, listed(), question)
  t.strictSame(verdict.release, {
    version: '1.4.2',
    digest: toHex(releaseDigest),
    state: 'current',
    covers: release.covers,
  })
  t.equal(verdict.ends, list.ends)
  t.notOk(verdict.warnings.some(({ code }) => code === 'configuration_unchecked'))
  const other = { ...release, version: '1.4.1', digest: '11'.repeat(32) }
  const elsewhere = { ...release, 'sev-snp': [{ ...image, measurement: 'cd'.repeat(48) }] }
  const tried = (releases: readonly object[]) => said(genoa.evidence, listed({ releases }))
  t.equal(await tried([other, release]), null, 'two at once')
  t.equal(await tried([other]), 'release_unknown', 'the image alone')
  t.equal(await tried([elsewhere]), 'measurement_not_allowed', 'the digest alone')
  t.equal(await tried([other, elsewhere]), 'release_unknown', 'halves of two releases')
  t.equal(await tried([{ ...release, state: 'withdrawn' }]), 'release_withdrawn: 1.4.2')
  t.equal(await tried([release, { ...release, state: 'withdrawn' }]), 'release_withdrawn: 1.4.2')
  t.equal(await tried([{ ...release, state: 'accepted' }]), null)
  t.equal(await tried([{ ...release, state: 'accepted', until: now }]), null)
  t.equal(await tried([{ ...release, state: 'accepted', until: now - 1 }]), 'release_withdrawn: its time is over')
  t.equal(await tried([{ ...release, 'sev-snp': undefined }]), 'measurement_not_allowed')
  t.equal(
    await tried([{ ...release, 'sev-snp': [{ ...image, hostData: '11'.repeat(32) }] }]),
    'policy_refused: hostData',
  )
  t.equal(await tried([{ ...release, 'sev-snp': [{ ...image, guestSvn: 1 }] }]), 'policy_refused: guestSvn')
  const named = snp({ report: (bytes) => (bytes.fill(0x11, 0xc0, 0xe0), bytes.set([3], 4)) })
  const both = { releases: [{ ...release, 'sev-snp': [{ ...image, hostData: '11'.repeat(32), guestSvn: 3 }] }] }
  t.equal(await said(named.evidence, of(named, listed(both))), null)
  t.equal(await said(named.evidence, of(named, listed())), 'policy_refused: hostData')
  t.equal(
    await said(genoa.evidence, { ...listed(), measurements: ['cd'.repeat(48)] }),
    'measurement_not_allowed',
    'both hold',
  )
})

t.test('lists of releases are signed and end', async (t) => {
  const tried = (change: object, signers = [first, second]) => said(genoa.evidence, listed(change, signers))
  t.equal(await tried({}, [first]), 'releases_unsigned')
  t.equal(await tried({}, [first, first]), 'releases_unsigned', 'one key twice')
  t.equal(await tried({}, [first, releaseSigner()]), 'releases_unsigned', 'a key that is not pinned')
  t.equal(await tried({}, [third, releaseSigner(), first]), null)
  const whole = signedList(list, [first, second])
  const changed = { ...whole, text: `${whole.text} ` }
  const { document: _, ...pinned } = listed().releases as { document: object } & typeof keys
  const shown = (document: typeof whole) => said(genoa.evidence, { ...policy, releases: { ...pinned, document } })
  t.equal(await shown(changed), 'releases_unsigned')
  t.equal(
    await shown({ ...whole, signatures: [whole.signatures[0]!, { ...whole.signatures[0]!, key: second.key }] }),
    'releases_unsigned',
  )
  t.equal(await said(genoa.evidence, listed({}, [first, second], 'sealgate-other/1')), 'releases_unsigned')
  t.equal(
    await said(genoa.evidence, { ...policy, releases: pinned }),
    'release_unknown: no list of releases is at hand',
  )
  t.equal(await said(genoa.evidence, { ...policy, releases: pinned }, { releases: whole }), null)
  const large = signedList({ ...list, name: 'x'.repeat(262_144) }, [first, second])
  const unsigned = { ...large, signatures: [] }
  const shownLarge = said(genoa.evidence, { ...policy, releases: pinned }, { releases: unsigned })
  t.equal(await shownLarge, 'evidence_malformed: releases', 'more than 256 KiB')
  t.equal(await tried({ ends: now }), null)
  t.equal(await tried({ ends: now - 1 }), 'releases_expired', 'a list that ended')
  t.equal(await tried({ issued: now + 300_001 }), 'releases_expired')
  t.equal(await tried({ issued: now + 300_000 }), null)
  t.equal(await tried({ ends: list.issued + 90 * day }), null)
  const longer = { ends: list.issued + 90 * day + 1 }
  t.equal(await tried(longer), 'evidence_malformed: releases', 'a list of 90 days and a bit')
  t.equal(await tried({ ends: undefined }), 'evidence_malformed: releases')
  t.equal(await tried({ more: 1 }), 'evidence_malformed: releases')
  t.equal(await tried({ releases: [{ ...release, more: 1 }] }), 'evidence_malformed: releases')
  t.equal(await tried({ format: 'sealgate-releases/2' }), 'evidence_malformed: releases')
  t.equal(await tried({ releases: [{ ...release, digest: 'xy' }] }), 'evidence_malformed: releases')
  t.equal(await shown(signedList('not JSON', [first, second])), 'evidence_malformed: releases')
})

t.test('enrolled machines alone are accepted, and a stale list refuses', async (t) => {
  const { chip } = await appraise(genoa.evidence, policy, question)
  const machines = { format: 'sealgate-machines/1', name: 'machines', serial: 1, issued: now - day, ends: now + day }
  const enrolling = (change: object = {}, signers = [first, second], format = machines.format) => {
    const document = signedList({ ...machines, 'sev-snp': [{ chip, about: 'rack 3' }], ...change }, signers, format)
    return { ...policy, machines: { ...keys, document } }
  }
  const tried = (...asked: Parameters<typeof enrolling>) => said(genoa.evidence, enrolling(...asked))
  const { warnings, ends } = await appraise(genoa.evidence, enrolling(), question)
  t.notOk(warnings.some(({ code }) => code === 'any_machine'))
  t.equal(ends, now + day, 'a verdict ends with its list')
  t.equal(await tried({ 'sev-snp': [{ chip: '00'.repeat(64) }] }), 'chip_not_allowed: chip')
  t.equal(await tried({ 'sev-snp': undefined, tdx: [] }), 'chip_not_allowed: chip', 'no machine of this platform')
  t.equal(await tried({}, [first]), 'releases_unsigned', 'too few signers')
  t.equal(await tried({}, [first, second], 'sealgate-releases/1'), 'releases_unsigned', 'signed as another list')
  t.equal(await tried({ ends: now - 1 }), 'collateral_expired: machines')
  t.equal(await tried({ issued: now + 300_001, ends: now + day }), 'collateral_expired: machines')
  t.equal(await tried({ ends: machines.issued + 90 * day + 1 }), 'evidence_malformed: machines')
  t.equal(await tried({ more: 1 }), 'evidence_malformed: machines')
  const own = { ...policy, machines: keys }
  t.equal(await said(genoa.evidence, own), 'chip_not_allowed: no list of machines is at hand')
  const narrow = { ...enrolling(), 'sev-snp': { ...policy['sev-snp'], chips: ['00'.repeat(64)] } }
  t.equal(await said(genoa.evidence, narrow), 'chip_not_allowed: chip', 'a list widens nothing')
})

t.test('notices tighten a policy, and stale ones refuse', async (t) => {
  const notice = { format: 'sealgate-notices/1', name: 'notices', serial: 1, issued: now - day, ends: now + day }
  const noticed = (change: object, own: PlatformPolicy = policy, signers = [first, second]): PlatformPolicy => ({
    ...own,
    notices: { ...keys, document: signedList({ ...notice, ...change }, signers, 'sealgate-notices/1') },
  })
  const tried = (change: object, own?: PlatformPolicy) => said(genoa.evidence, noticed(change, own))
  t.equal(await tried({}), null)
  t.equal((await appraise(genoa.evidence, noticed({}), question)).ends, now + day)
  const floor = { bootloader: 10, tee: 2, snp: 25, microcode: 90 }
  t.equal(await tried({ floors: { Genoa: floor } }), null)
  t.equal(await tried({ floors: { Genoa: { ...floor, tee: 3 } } }), 'tcb_too_low: reported tee', 'a higher floor')
  t.equal(await tried({ floors: { Genoa: { bootloader: 0, tee: 0, snp: 0, microcode: 0 } } }), null)
  const lowered = { ...policy, 'sev-snp': { floors: { Genoa: { ...floor, snp: 26 } } } }
  t.equal(await tried({ floors: { Genoa: floor } }, lowered), 'tcb_too_low: reported snp', 'never a lower one')
  const turin = snp({ product: 'Turin' })
  const stated = noticed({ floors: { Turin: { ...floor, fmc: 3 } } }, of(turin))
  t.equal(await said(turin.evidence, stated), null, 'a floor where none was')
  t.equal(await tried({ refusedProducts: ['Genoa'] }), 'platform_not_allowed: Genoa')
  const withdrawn = { withdrawn: [toHex(releaseDigest)] }
  t.equal(await tried(withdrawn, listed()), 'release_withdrawn: by a notice')
  t.equal(await tried(withdrawn), 'release_withdrawn: by a notice')
  t.equal(await tried({ ends: now }), null)
  t.equal(await tried({ ends: now - 1 }), 'collateral_expired: notices', 'stale')
  t.equal(await tried({ issued: now + 300_001, ends: now + day }), 'collateral_expired: notices')
  t.equal(await tried({ ends: notice.issued + 90 * day + 1 }), 'evidence_malformed: notices')
  t.equal(await tried({ more: 1 }), 'evidence_malformed: notices')
  t.equal(await said(genoa.evidence, noticed({}, policy, [first])), 'releases_unsigned')
  t.equal(await said(genoa.evidence, { ...policy, notices: keys }), 'collateral_missing: notices')
  const asReleases = { ...policy, notices: { ...keys, document: signedList(notice, [first, second]) } }
  t.equal(await said(genoa.evidence, asReleases), 'releases_unsigned', 'signed as something else')
  let seen: SeenNumbers = {}
  const memory = { load: () => seen, save: (now: SeenNumbers) => void (seen = now) }
  t.equal(await tried({ serial: 2 }, { ...policy, memory }), null)
  t.equal(await tried({ serial: 1 }, { ...policy, memory }), 'releases_rolled_back')
})

t.test('a memory refuses evidence with lower numbers', async (t) => {
  let seen: SeenNumbers = {}
  const memory = { load: () => seen, save: (now: SeenNumbers) => void (seen = now) }
  const serial = async (serial: number) => said(genoa.evidence, { ...listed({ serial }), memory })
  t.equal(await serial(7), null)
  t.strictSame(seen, { lists: { 'AMD Genoa': '01' }, releases: { example: 7 } })
  t.equal(await serial(6), 'releases_rolled_back', 'a lower serial')
  t.equal(await serial(9), null)
  t.equal(await serial(8), 'releases_rolled_back')
  const withdrawn = { serial: 10, releases: [{ ...release, state: 'withdrawn' }] }
  t.equal(await said(genoa.evidence, { ...listed(withdrawn), memory }), 'release_withdrawn: 1.4.2')
  t.equal(await serial(9), 'releases_rolled_back', 'a list that refuses is remembered')
  t.equal(await serial(10), null)
  const crl = (number: number) => {
    const made = snp({ crl: { number } })
    return said(made.evidence, { ...of(made), memory })
  }
  t.equal(await crl(300), null)
  t.equal(await crl(299), 'collateral_expired: number of a revocation list fell')
  t.equal(await crl(300), null)
  t.strictSame(seen, { lists: { 'AMD Genoa': '012c' }, releases: { example: 10 } })

  const notices = (serial: number) => {
    const notice = { format: 'sealgate-notices/1', name: 'example', serial, issued: now - day, ends: now + day }
    return { notices: { ...keys, document: signedList(notice, [first, second], notice.format) } }
  }
  const both = (serial: number, notice: number) =>
    said(genoa.evidence, { ...listed({ serial }), ...notices(notice), memory })
  seen = {}
  t.equal(await both(10, 3), null, 'lists of two formats may have one name')
  t.equal(await both(9, 3), 'releases_rolled_back')
  t.equal(await both(10, 2), 'releases_rolled_back')
  t.equal(await both(11, 4), null)

  const quote = makeTdx({ now, reportData: bound(challenge) })
  const remembered = (evaluation: number) =>
    said(quote.evidence, {
      ...{ measurements: [measurement], testRoots: { tdx: quote.roots } },
      memory: { load: () => ({ evaluation }), save: () => {} },
    })
  t.equal(await remembered(18), 'measurement_not_allowed')
  t.equal(await remembered(19), 'collateral_expired: evaluation number fell')
})

t.test('exceptions loosen one rule until a day', async (t) => {
  const made = snp({ report: (bytes) => bytes.set([26], 0x3e) })
  const excepted = (until: string): PlatformPolicy => ({
    ...of(made),
    exceptions: [{ allow: 'sev-snp.provisional', until, because: 'the fleet is being updated' }],
  })
  t.equal(await said(made.evidence, of(made)), 'tcb_provisional')
  t.equal(await said(made.evidence, excepted('2026-11-09')), 'tcb_provisional')
  const verdict = await appraise(made.evidence, excepted('2026-11-10'), question)
  t.strictSame(verdict.exceptions, [
    { allow: 'sev-snp.provisional', until: Date.parse('2026-11-11'), because: 'the fleet is being updated' },
  ])
  t.equal(verdict.ends, Date.parse('2026-11-11'))
  t.strictSame(
    (await appraise(genoa.evidence, { ...excepted('2026-11-10'), ...policy }, question)).exceptions,
    [],
    'unless it was not needed',
  )
})

t.test('floors come from here or from the policy, never lower', async (t) => {
  const turin = snp({ product: 'Turin' })
  const own = of(turin)
  t.equal(await said(turin.evidence, own), 'tcb_too_low: no floor is known for Turin; a policy may state one')
  const floor = { fmc: 3, bootloader: 10, tee: 2, snp: 25, microcode: 90 }
  const stated = (Turin: object) => ({ ...own, 'sev-snp': { floors: { Turin } } }) as PlatformPolicy
  t.equal(await said(turin.evidence, stated(floor)), null)
  t.equal(await said(turin.evidence, stated({ ...floor, fmc: 4 })), 'tcb_too_low: reported fmc')
  const genoaFloor = (microcode: number) => ({
    ...policy,
    'sev-snp': { floors: { Genoa: { bootloader: 10, tee: 0, snp: 23, microcode } } },
  })
  t.equal(await said(genoa.evidence, genoaFloor(90)), null)
  t.equal(await said(genoa.evidence, genoaFloor(91)), 'tcb_too_low: reported microcode')
  await t.rejects(appraise(genoa.evidence, genoaFloor(83), question), /Genoa\.microcode is below the built-in floor/)
  const { fmc: _, ...partial } = floor
  await t.rejects(appraise(turin.evidence, stated(partial), question), /fmc is a component of Turin alone/)
  const late = await appraise(genoa.evidence, policy, { ...question, now: Date.parse('2026-11-01') + 90 * day })
  t.notOk(late.warnings.some(({ code }) => code === 'floors_old'))
  const then = Date.parse('2026-11-01') + 121 * day
  const aged = snp({ now: then })
  const later = await appraise(aged.evidence, of(aged), { ...question, now: then })
  t.ok(later.warnings.some(({ code }) => code === 'floors_old'))
})

t.test('strict', async (t) => {
  const made = snp({
    product: 'Turin',
    version: 5,
    report: (bytes) => (bytes.set([0x00, 0x00, 0xc3, 0x03], 8), bytes.set([0x3c], 0x40)),
  })
  const floors = { Turin: { fmc: 3, bootloader: 10, tee: 2, snp: 25, microcode: 90 } }
  const own = {
    ...of(made),
    profile: 'strict',
    platforms: ['sev-snp'],
    'sev-snp': {
      floors,
      chips: [toHex(chipOf('Turin').subarray(0, 8))],
      mitigations: { launch: '000000000000000f', current: '0000000000000001' },
    },
  } as const
  t.equal(await said(made.evidence, own), null)
  t.equal(
    await said(made.evidence, { ...own, 'sev-snp': { ...own['sev-snp'], chips: ['0909090909090909'] } }),
    'chip_not_allowed: chip',
  )
  const swap = snp({
    product: 'Turin',
    version: 5,
    report: (bytes) => (bytes.set([0x00, 0x00, 0xc3, 0x01], 8), bytes.set([0x3c], 0x40)),
  })
  t.equal(
    await said(swap.evidence, { ...own, testRoots: { 'sev-snp': swap.roots } }),
    'policy_refused: guest pageSwapOff',
  )
  t.equal(await said(genoa.evidence, { ...own, testRoots: { 'sev-snp': genoa.roots } }), 'platform_not_allowed: Genoa')
  for (const [change, wanted] of [
    [{ 'sev-snp': { floors } }, /chips is needed/],
    [{ 'sev-snp': { ...own['sev-snp'], mitigations: undefined } }, /mitigations is needed/],
    [{ 'sev-snp': { ...own['sev-snp'], clouds: ['x'] } }, /takes no VLEK/],
    [{ 'sev-snp': { ...own['sev-snp'], products: ['Genoa'] } }, /refuses Genoa/],
    [{ platforms: ['nitro'] }, /refuses nitro/],
    [{ platforms: ['tdx'] }, /ppids is needed/],
  ] as const)
    await t.rejects(appraise(made.evidence, { ...own, ...change } as PlatformPolicy, question), wanted)
})

t.test('a policy is read strictly', async (t) => {
  const parsed = (value: object) => () => parsePolicy(JSON.stringify(value))
  t.doesNotThrow(
    parsed({ measurements: [measurement], releases: keys, platforms: ['nitro'], nitro: { maximumAge: 1000 } }),
  )
  for (const [value, wanted] of [
    [{ measurments: [] }, /measurments is unknown/],
    [{ measurements: ['abc'] }, /measurements\[0\] is no hex/],
    [{ measurements: ['ab'] }, /measurements\[0\] is no hex/],
    [{ measurements: [measurement.replace('a', 'g')] }, /no hex/],
    [{ measurements: measurement }, /no list/],
    [{ testRoots: { nitro: '00' } }, /testRoots is unknown/],
    [{ memory: {} }, /memory is unknown/],
    [{ allowInsecureDev: true }, /allowInsecureDev is unknown/],
    [{ profile: 'loose' }, /profile is none of/],
    [{ platforms: [] }, /platforms is no list/],
    [{ platforms: ['dev'] }, /platforms\[0\] is none of/],
    [{ 'sev-snp': { products: ['Milan'] } }, /products\[0\] is none of/],
    [{ 'sev-snp': { debug: true } }, /sev-snp.debug is unknown/],
    [{ 'sev-snp': { floors: { Genoa: { snp: 30 } } } }, /Genoa.bootloader/],
    [{ 'sev-snp': { floors: { Milan: {} } } }, /Milan is unknown/],
    [{ nitro: { maximumAge: 300_001 } }, /maximumAge/],
    [{ releases: { keys: [first.key], threshold: 0 } }, /threshold/],
    [{ releases: { keys: [first.key], threshold: 2 } }, /threshold is more/],
    [{ notices: { keys: [first.key], threshold: 2 } }, /threshold is more/],
    [{ releases: { keys: [first.key, first.key.toUpperCase()], threshold: 2 } }, /names a key twice/],
    [{ machines: { keys: [first.key, first.key], threshold: 2 } }, /machines\.keys names a key twice/],
    [{ exceptions: [{ allow: 'debug', until: '2027-01-01', because: 'x' }] }, /allow is none of/],
    [{ exceptions: [{ allow: 'tdx.status:Revoked', until: '2027-01-01', because: 'x' }] }, /allow is none of/],
    [{ exceptions: [{ allow: 'sev-snp.provisional', because: 'x' }] }, /until is no day/],
    [{ exceptions: [{ allow: 'sev-snp.provisional', until: '2027-02-30', because: 'x' }] }, /until is no day/],
    [{ exceptions: [{ allow: 'sev-snp.provisional', until: '2027-02-03', because: '' }] }, /because is no text/],
    [
      { exceptions: [{ allow: 'sev-snp.provisional', advisories: [], until: '2027-02-03', because: 'x' }] },
      /advisories is unknown/,
    ],
  ] as const)
    t.throws(parsed(value), wanted, JSON.stringify(value))
  t.throws(parsed({ testRoots: {} }), /testRoots is unknown/, 'test roots in a file')
  t.throws(() => parsePolicy('{'), PolicyError)
  t.throws(() => parsePolicy('{"__proto__": {"measurements": []}}'), /__proto__ is unknown/)
  t.throws(() => readPolicy({ testRoots: { nitro: 'aa' as unknown as Uint8Array } }), /testRoots/)
  t.throws(() => readPolicy({ testRoots: { other: new Uint8Array(32) } as object }), /testRoots/)
})

t.test('real evidence refuses today', async (t) => {
  const [ica, ark] = pem('snp/ask_ark_genoa.pem') as [Uint8Array, Uint8Array]
  const evidence = {
    ...{ type: 'sev-snp', v: 1, report: toHex(sample('snp/tinfoil_report.bin')) },
    certificates: { vek: toHex(sample('snp/tinfoil_vcek.der')), ica: toHex(ica), ark: toHex(ark) },
    collateral: { crl: toHex(sample('snp/x_test_amd_genoa_crl.pem.bin')) },
  }
  t.equal(await said(evidence, { measurements: [measurement] }), 'collateral_expired: revocation list')
  t.equal(
    await said({ ...evidence, report: toHex(hexSample('snp/report_milan.hex')) }, { measurements: [measurement] }),
    'platform_not_allowed: report version',
  )
})

// A pinned key may sign any text, so these readers meet all of them behind a signature that holds.
const one = { keys: [first.key], threshold: 1 }
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
fuzzed('list of releases', 9, [Buffer.from(JSON.stringify(list))], (bytes) =>
  readReleases(signedList(textOf(bytes), [first]), one, now),
)
const noticeText = Buffer.from(
  JSON.stringify({
    ...{ format: 'sealgate-notices/1', name: 'x', serial: 1, issued: now - day, ends: now + day, withdrawn: [] },
    ...{ minimumEvaluation: 17, refusedProducts: ['Milan'] },
    floors: { Genoa: { bootloader: 10, tee: 2, snp: 25, microcode: 90 } },
  }),
)
fuzzed('notices', 10, [noticeText], (bytes) =>
  readNotices({ ...one, document: signedList(textOf(bytes), [first], 'sealgate-notices/1') }, now),
)
const policyText = JSON.stringify({
  ...{ measurements: [measurement], releases: keys, platforms: ['nitro'], nitro: { maximumAge: 1000 } },
  exceptions: [{ allow: 'tdx.status:OutOfDate', advisories: ['SA-1'], until: '2027-01-31', because: 'x' }],
})
fuzzed('policy', 11, [Buffer.from(policyText)], (bytes) => {
  try {
    return parsePolicy(textOf(bytes))
  } catch (error) {
    throw error instanceof PolicyError ? new Refusal('evidence_malformed', 'policy') : error
  }
})
