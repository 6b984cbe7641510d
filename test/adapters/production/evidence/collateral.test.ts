import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import metadataStore from '../../../../adapters/memory/metadata-store.ts'
import { splitAuxblob } from '../../../../adapters/production/evidence/auxblob.ts'
import { completedEvidence } from '../../../../adapters/production/evidence/complete-evidence.ts'
import { pieceStore } from '../../../../adapters/production/evidence/piece-store.ts'
import { folderSource, serviceSource } from '../../../../adapters/production/evidence/sources.ts'
import { openUpstream } from '../../../../adapters/production/network/fetch-upstream.ts'
import { use } from '../../../../core/plugin.ts'
import type { Evidence } from '../../../../core/ports/enclave.ts'
import { MetadataStore } from '../../../../core/ports/metadata-store.ts'
import { inspect } from '../../../../plugins/sealed/evidence/appraise.ts'
import { newChecks } from '../../../../plugins/sealed/evidence/checks.ts'
import { type TestRoots, readPolicy } from '../../../../plugins/sealed/evidence/policy.ts'
import { rulesOf } from '../../../../plugins/sealed/evidence/rules.ts'
import { checkTdx } from '../../../../plugins/sealed/evidence/tdx.ts'
import { json, refusal, sample } from '../../../plugins/sealed/evidence/samples.ts'
import { fakeClock, settled } from '../../../fakes/clock.ts'
import { makeSnp } from '../../../fakes/platform/snp.ts'
import { makeTdx } from '../../../fakes/platform/tdx.ts'
import { answersFor, makers } from '../../../fakes/platform/services.ts'
import { made } from '../../../fitted.ts'
import { until } from '../../../until.ts'

const now = 1_800_000_000_000
const day = 86_400_000
const pauses = 4_000_000
const challenge = new Uint8Array(32).fill(5)
const keysetHash = new Uint8Array(32).fill(9)
const reportData = Buffer.concat([keysetHash, challenge])
const genoa = makeSnp({ now, reportData })
const domain = makeTdx({ now, reportData })
const testRoots: TestRoots = { 'sev-snp': genoa.roots, tdx: domain.roots }

type Makers = Awaited<ReturnType<typeof makers>>

/** A gateway's shelf in front of services that the test plays. */
const stage = async (
  t: Test,
  { rows = made(MetadataStore, use(metadataStore)), given = null as Makers | null, at = null as string | null } = {},
) => {
  const service = given ?? (await makers(t))
  const clock = fakeClock(now)
  const { door, close } = openUpstream()
  t.teardown(close)
  const ended = new Map<string, number | null>()
  const events: string[] = []
  const log = {
    info: (event: string) => void events.push(event),
    warn: (event: string) => void events.push(event),
    error: (event: string) => void events.push(event),
  }
  const proof = {
    collateral: (piece: string, until: number | null) => void ended.set(piece, until),
    appraised: () => undefined,
    ailing: () => [],
  }
  const find = pieceStore({ clock, log, rows, proof }, at === null ? serviceSource(door) : folderSource(at))
  const rules = rulesOf(readPolicy({ testRoots }), now)
  const { amd, intel, intelRootList } = service.settings
  const from = {
    amd: { service: amd, rules: rules.snp },
    intel: { service: intel, rootList: intelRootList, rules: rules.tdx },
  }
  return {
    ...{ service, clock, events, ended, rows },
    whole: (evidence: Evidence) => completedEvidence(evidence, find, from),
    /** What a client says to it. */
    async judged(evidence: Evidence) {
      const answer = await completedEvidence(evidence, find, from)
      const question = { keysetHash, challenge, now: clock.now() }
      return refusal(() => inspect(answer, { testRoots, platforms: ['sev-snp', 'tdx'] }, question))
    },
  }
}

const { report } = genoa.evidence
const snp: Evidence = { type: 'sev-snp', v: 1, report }
const tdx: Evidence = { type: 'tdx', v: 1, quote: domain.evidence.quote }

/** As the host of a guest lays it out: entries, an end, then the bytes. */
const blobOf = (entries: readonly (readonly [string, Buffer])[]): Buffer => {
  let at = (entries.length + 1) * 24
  const heads = entries.map(([guid, { length }]) => {
    const head = Buffer.alloc(24)
    head.write(guid.replaceAll('-', ''), 'hex')
    head.writeUInt32LE(at, 16)
    head.writeUInt32LE(length, 20)
    at += length
    return head
  })
  return Buffer.concat([...heads, Buffer.alloc(24), ...entries.map(([, bytes]) => bytes)])
}
const guids = {
  vcek: '63da758d-e664-4564-adc5-f4b93be8accd',
  vlek: 'a8074bc2-a25a-483e-aae6-39c045a0b8a1',
  ask: '4ab7b379-bbac-4fe4-a02f-05aef327c782',
  ark: 'c0b406a4-a803-4952-9743-3fb6014cd0ae',
}
const der = (hex: string): Buffer => Buffer.from(hex, 'hex')

t.test('a blob is split by the names of its entries', async (t) => {
  const [one, two, three] = [Buffer.from('01', 'hex'), Buffer.from('0203', 'hex'), Buffer.from('04', 'hex')]
  const whole = [
    [guids.vcek, one],
    [guids.ask, two],
    [guids.ark, three],
  ] as const
  t.strictSame(splitAuxblob(blobOf(whole)), { vek: '01', ica: '0203', ark: '04' })
  t.strictSame(splitAuxblob(blobOf([[guids.vlek, two]])), { vek: '0203' })
  const outside = blobOf(whole)
  outside.writeUInt32LE(outside.length, 16)
  t.strictSame(splitAuxblob(outside), { ica: '0203', ark: '04' }, 'an entry outside the blob is passed over')
  t.strictSame(splitAuxblob(Buffer.alloc(0)), {})
  t.strictSame(splitAuxblob(blobOf([[guids.vcek, Buffer.alloc(5000)]])), {}, 'too long for a certificate')
  t.strictSame(splitAuxblob(Buffer.concat([Buffer.alloc(24), blobOf(whole)])), {}, 'nothing behind the end')
})

t.test('a report comes with all that a client needs, and each piece is fetched once', async (t) => {
  const scene = await stage(t)
  scene.service.say(answersFor(genoa.evidence))
  t.equal(await scene.judged(snp), null)
  t.equal(scene.service.asked.length, 3)
  t.match(scene.service.asked.toSorted().at(-1), /^\/vcek\/v1\/Genoa\/crl$|cert_chain/)
  const chip = Buffer.from(Array.from({ length: 64 }, (_, at) => at + 1)).toString('hex')
  const asked = `/vcek/v1/Genoa/${chip}?blSPL=10&teeSPL=02&snpSPL=25&ucodeSPL=90`
  t.ok(scene.service.asked.includes(asked), 'by chip and patch level')
  await Promise.all([scene.judged(snp), scene.judged(snp)])
  t.equal(scene.service.asked.length, 3)
  t.strictSame([...scene.ended.keys()].toSorted(), ['authorities', 'crl', 'vek'])

  const turin = makeSnp({ now, reportData, product: 'Turin' })
  const other = await stage(t)
  other.service.say(answersFor(turin.evidence))
  await other.whole({ type: 'sev-snp', v: 1, report: turin.evidence.report })
  t.ok(
    other.service.asked.includes('/vcek/v1/Turin/cert_chain'),
    'a root that the gateway does not know is asked for, and not served',
  )
})

t.test('valid certificates of the host are used, and invalid ones are fetched', async (t) => {
  const { certificates } = genoa.evidence
  const auxblob = (vek: string) =>
    blobOf([
      [guids.vcek, der(vek)],
      [guids.ask, der(certificates.ica)],
      [guids.ark, der(certificates.ark)],
    ]).toString('hex')
  const scene = await stage(t)
  scene.service.say(answersFor(genoa.evidence))
  t.equal(await scene.judged({ ...snp, auxblob: auxblob(certificates.vek) }), null)
  t.strictSame(scene.service.asked, ['/vcek/v1/Genoa/crl'])

  const older = await stage(t)
  older.service.say(answersFor(genoa.evidence))
  const { vek } = makeSnp({ now, reportData, extensions: (parts) => delete parts['chip'] }).evidence.certificates
  t.equal(await older.judged({ ...snp, auxblob: auxblob(vek) }), null)
  t.equal(older.service.asked.length, 2, 'the list, and the certificate that did not fit')

  const before = await stage(t)
  before.service.say(answersFor(genoa.evidence))
  t.equal(
    await before.judged({ type: 'sev-snp', report, certificates: auxblob(certificates.vek) }),
    null,
    'as 1.0.0 has it',
  )
})

t.test('a quote comes with the data of its platform', async (t) => {
  const scene = await stage(t)
  scene.service.say(answersFor(domain.evidence))
  t.equal(await scene.judged(tdx), null)
  t.strictSame(scene.service.asked.toSorted(), [
    '/rootlist',
    '/sgx/certification/v4/pckcrl?ca=platform&encoding=der',
    '/tdx/certification/v4/qe/identity?update=early',
    '/tdx/certification/v4/tcb?fmspc=90c06f000000&update=early',
  ])
  await scene.judged(tdx)
  t.equal(scene.service.asked.length, 4)
  const whole = await scene.whole(tdx)
  t.strictSame(whole['collateral'], domain.evidence.collateral, 'byte for byte what was signed')
})

t.test('a forged piece is never served', async (t) => {
  const forged = makeSnp({
    now,
    reportData,
    crl: { by: (await import('../../../fakes/platform/snp.ts')).snpKeys.other },
  })
  const scene = await stage(t)
  scene.service.say({ ...answersFor(genoa.evidence), crl: answersFor(forged.evidence)['crl']! })
  t.equal(await scene.judged(snp), 'collateral_missing: crl')
  t.ok(scene.events.includes('collateral.failed'))
  t.equal(scene.ended.get('crl'), null)
  const tries = scene.service.asked.length
  await scene.judged(snp)
  t.equal(scene.service.asked.length, tries, 'no second try within ten seconds')
  scene.service.say(answersFor(genoa.evidence))
  await scene.clock.pass(10_000)
  t.equal(await scene.judged(snp), null, 'and then it is back')

  const other = await stage(t)
  const wrong = makeTdx({ now, reportData, info: (info) => void (info.fmspc = '11'.repeat(6)) })
  const { tcb_info, tcb_info_signature } = wrong.evidence.collateral as Record<string, string>
  const mixed = { ...domain.evidence.collateral, tcb_info: tcb_info!, tcb_info_signature: tcb_info_signature! }
  other.service.say(answersFor({ collateral: mixed }))
  t.equal(await other.judged(tdx), 'collateral_missing: tcb_info')

  const large = await stage(t)
  large.service.say({ ...answersFor(genoa.evidence), crl: { body: new Uint8Array(300 * 1024) } })
  t.equal(await large.judged(snp), 'collateral_missing: crl')
  const silent = await stage(t)
  silent.service.fall(true)
  t.match(await silent.judged(snp), /^evidence_malformed/)
})

t.test('an expired piece is still served, is fetched again, and is renewed', async (t) => {
  const short = makeSnp({ now, reportData, crl: { issued: now - day, ends: now + 2 * day } })
  const later = makeSnp({ now, reportData, crl: { issued: now + 9 * day, ends: now + 40 * day } })
  const scene = await stage(t)
  scene.service.say(answersFor(short.evidence))
  t.equal(await scene.judged(snp), null)
  const tries = scene.service.asked.length
  scene.service.fall(true)

  await scene.clock.pass(day)
  t.equal(await scene.judged(snp), null)
  await settled()
  t.equal(scene.service.asked.length, tries + 1, 'half of its life is over')

  await scene.clock.pass(9 * day)
  t.equal(await scene.judged(snp), 'collateral_expired: revocation list', 'the client decides, and refuses')
  t.ok(scene.ended.get('crl')! <= scene.clock.now())
  scene.service.fall(false)
  scene.service.say({ crl: answersFor(later.evidence)['crl']! })
  await scene.clock.pass(10_000)
  t.equal(await scene.judged(snp), null)
  t.equal(scene.ended.get('crl'), now + 47 * day, 'as long as a client takes it')

  scene.service.say({ crl: answersFor(short.evidence)['crl']! })
  await scene.clock.pass(20 * day)
  const before = scene.service.asked.length
  await scene.judged(snp)
  t.ok(await until(() => scene.service.asked.length > before))
  await scene.clock.pass(pauses)
  await until(async () => (await scene.judged(snp)) !== null, 300)
  t.equal(scene.ended.get('crl'), now + 47 * day, 'an older one never takes its place')
})

t.test('the store keeps the pieces, and a changed piece is not served', async (t) => {
  const scene = await stage(t)
  scene.service.say(answersFor(genoa.evidence))
  await scene.judged(snp)
  scene.service.fall(true)
  const again = await stage(t, { rows: scene.rows, given: scene.service })
  const tries = scene.service.asked.length
  t.equal(await again.judged(snp), null)
  t.equal(scene.service.asked.length, tries)

  const kinds = { name: 'collateral', indexes: [] }
  await scene.rows.update(kinds, 'crl/Genoa', { members: { crl: '00' } } as object)
  const third = await stage(t, { rows: scene.rows, given: scene.service })
  t.equal(await third.judged(snp), 'collateral_missing: crl')
})

t.test('a gateway without egress takes the same pieces from a folder', async (t) => {
  const at = t.testdir()
  const scene = await stage(t, { at })
  const answers = { ...answersFor(genoa.evidence), ...answersFor(domain.evidence) }
  const chip = Buffer.from(Array.from({ length: 64 }, (_, byte) => byte + 1)).toString('hex')
  const files: Readonly<Record<string, string>> = {
    vek: `vcek-Genoa-${chip}-10.02.25.90.der`,
    cert_chain: 'vcek-Genoa-chain.pem',
    crl: 'Genoa-crl.der',
    rootlist: 'intel-root-crl.der',
    pckcrl: 'intel-platform-crl.der',
    tcb: 'intel-tcb-90c06f000000.json',
    identity: 'intel-qe-identity.json',
  }
  for (const [name, file] of Object.entries(files)) {
    const { body, headers = {} } = answers[name]!
    await writeFile(join(at, file), body)
    const [chain] = Object.values(headers)
    if (chain !== undefined) await writeFile(join(at, file.replace('.json', '.pem')), decodeURIComponent(chain))
  }
  t.equal(await scene.judged(snp), null)
  t.equal(await scene.judged(tdx), null)
  t.strictSame(scene.service.asked, [])
})

t.test('a real quote with the answers of the real services', async (t) => {
  const at = Date.parse('2025-06-20')
  const service = await makers(t)
  service.say(answersFor({ collateral: json('tdx/phala_tdx_quote_collateral.json') }))
  const clock = fakeClock(at)
  const { door, close } = openUpstream()
  t.teardown(close)
  const note = () => undefined
  const needs = {
    ...{ clock, log: { info: note, warn: note, error: note }, rows: made(MetadataStore, use(metadataStore)) },
    proof: { collateral: note, appraised: note, ailing: () => [] },
  }
  const rules = rulesOf(readPolicy({}), at)
  const { amd, intel, intelRootList } = service.settings
  const whole = await completedEvidence(
    { type: 'tdx', v: 1, quote: Buffer.from(sample('tdx/phala_tdx_quote')).toString('hex') },
    pieceStore(needs, serviceSource(door)),
    {
      amd: { service: amd, rules: rules.snp },
      intel: { service: intel, rootList: intelRootList, rules: rules.tdx },
    },
  )
  t.match(await checkTdx(whole, rules.tdx, at, newChecks()), { tcb: { status: 'UpToDate' } })
})
