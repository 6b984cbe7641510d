import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { verdictLines, refusalLines } from '../../../../plugins/sealed/client/verdict-lines.ts'
import { connect } from '../../../../plugins/sealed/client/client.ts'
import type { SealgateError } from '../../../../plugins/sealed/client/error.ts'
import type { Verified } from '../../../../plugins/sealed/client/verified.ts'
import type { Policy } from '../../../../plugins/sealed/client/verify.ts'
import { reasons } from '../../../../plugins/sealed/evidence/reason-words.ts'
import { commandRunner } from '../../../fakes/command-runner.ts'
import { makeSnp } from '../../../fakes/platform/snp.ts'
import { sealedStage } from '../../../fakes/sealing.ts'

const now = Date.now()
const measurement = 'ab'.repeat(48)
const { roots } = makeSnp({ now, reportData: new Uint8Array(64) })
const policy: Policy = { measurements: [measurement], testRoots: { 'sev-snp': roots } }
const question = { model: 'quiet', messages: [{ role: 'user' as const, content: 'herons' }] }
const plain = makeSnp({ now, reportData: new Uint8Array(64) })
const { certificates, collateral } = plain.evidence
/** The prover gives the report alone; what is signed beside it never changes. */
const prove = (reportData: Uint8Array) => ({
  ...makeSnp({ now, reportData }).evidence,
  certificates,
  collateral,
})

t.test('a client seals to a platform that it verified itself', async (t) => {
  const stage = await sealedStage(t, { prove })
  const client = connect({ baseUrl: stage.base, apiKey: stage.apiKey, policy })
  t.match(await client.chat.completions.create(question), { choices: [{ message: { content: 'herons' } }] })
  const verified = await client.verify()
  t.match(verified, { verified: 'test', platform: 'sev-snp', product: 'Genoa', measurement, challenge: true })
  t.equal(verified.keyset.kids.length > 0, true)
  t.equal(verified.ends, verified.keyset.ends)

  const refused = async (own: Policy) => {
    const before = stage.calls.length
    const error: SealgateError = await connect({ baseUrl: stage.base, apiKey: stage.apiKey, policy: own })
      .chat.completions.create(question)
      .then(() => t.fail('sealed'))
      .catch((error) => error)
    t.equal(stage.calls.length, before, 'nothing was sealed')
    return error
  }
  t.match(await refused({ measurements: [measurement] }), { fault: 'unverified', reason: 'root_unknown', detail: null })
  const elsewhere = await refused({ ...policy, measurements: ['cd'.repeat(48)] })
  t.match(elsewhere, { fault: 'unverified', reason: 'measurement_not_allowed' })
  t.equal(elsewhere.checks.at(-1)!.ok, false)
  t.equal(elsewhere.checks.at(-1)!.id, 'measurement')
  t.match(await refused({ ...policy, releases: ['11'.repeat(32)] }), { reason: 'release_unknown' })
  t.match(await refused({ ...policy, allowInsecureDev: true, platforms: ['tdx'] }), { reason: 'platform_not_allowed' })
  const verifier = async () => ({ reportData: new Uint8Array(64), measurement, debug: false })
  t.match(await refused({ ...policy, verifiers: { 'sev-snp': verifier } }), { name: 'PolicyError' })
  t.match(await refused({ measurments: [] } as Policy), { name: 'PolicyError' })
})

t.test('a development enclave is never shown as verified', async (t) => {
  const stage = await sealedStage(t)
  const client = connect({ baseUrl: stage.base, apiKey: stage.apiKey, policy: { allowInsecureDev: true } })
  const verified = await client.verify()
  t.equal(verified.verified, 'development')
  t.strictSame(verdictLines(verified), ['! development: proves nothing'])
  const careful = connect({ baseUrl: stage.base, apiKey: stage.apiKey, policy })
  await t.rejects(careful.verify(), /development one and proves nothing/)
})

const command = commandRunner(t)
const ran = async (args: readonly string[]) => {
  const { code, stdout: out, stderr: err } = await command(['verify', ...args], {})
  return { code, out, err }
}

t.test('the command shows the proof in its lines and its exit code', async (t) => {
  const stage = await sealedStage(t, { prove })
  const dev = await sealedStage(t)
  const folder = t.testdir()
  const file = join(folder, 'policy.json')
  await writeFile(file, JSON.stringify({ measurements: [measurement] }))
  const refused = await ran([stage.base, '--key', stage.apiKey, '--policy', file, '--save', join(folder, 'kept.json')])
  t.equal(refused.code, 1)
  t.match(refused.out, /✓ platform\n✗ certificates\n✗ The enclave could not be verified: root_unknown/)
  const again = await ran(['--evidence', join(folder, 'kept.json'), '--policy', file, '--json'])
  t.equal(again.code, 1)
  t.match(JSON.parse(again.out), { verified: false, reason: 'root_unknown' })
  const later = await ran(['--evidence', join(folder, 'kept.json'), '--policy', file, '--at', '2040-01-01T00:00:00Z'])
  t.equal(later.code, 1)

  const guessed = await ran(['--evidence', join(folder, 'kept.json'), '--policy', file, '--at', '11.12.2040'])
  t.match(guessed, { code: 2, err: 'sealgate: --at is a time, such as 2026-11-01T12:00:00Z\n' })
  for (const args of [
    [stage.base, 'kept.json', '--key', stage.apiKey],
    ['--evidence', join(folder, 'kept.json'), 'kept.json'],
  ])
    t.match(await ran(args), { code: 2, err: 'sealgate: kept.json is one argument too many\n' })

  const insecure = await ran([dev.base, '--key', dev.apiKey])
  t.equal(insecure.code, 1)
  t.match(insecure.out, /^! development: proves nothing/)
  const allowed = await ran([dev.base, '--key', dev.apiKey, '--allow-insecure-dev'])
  t.strictSame([allowed.code, allowed.out], [0, '! development: proves nothing\n'])

  t.equal((await ran(['http://127.0.0.1:1', '--key', 'k'])).code, 2)
  t.equal((await ran([stage.base])).code, 2, 'without a key')
  await writeFile(file, JSON.stringify({ testRoots: {} }))
  const misused = await ran([stage.base, '--key', stage.apiKey, '--policy', file])
  t.equal(misused.code, 2)
  t.match(misused.err, /testRoots is unknown/)
})

t.test('the page of evidence names every reason', async (t) => {
  const page = await readFile('docs/evidence.md', 'utf8')
  for (const reason of Object.keys(reasons)) t.ok(page.includes(`\`${reason}\``), reason)
})

t.test('the lines of a verdict', async (t) => {
  const verified: Verified = {
    ...{ verified: 'platform', platform: 'sev-snp', product: 'Turin', measurement: '09ef32ac'.repeat(12) },
    release: { version: '1.4.2', digest: '00'.repeat(32), state: 'current', covers: 'firmware and kernel' },
    ...{ chip: '1e550a8e01020304', tcb: { fmc: 1, snp: 7 }, challenge: true, checks: [] },
    collateral: [
      ...['vek', 'ica', 'ark'].map((piece) => ({ piece, issued: 0, ends: Date.parse('2030-01-01') })),
      { piece: 'crl', issued: Date.parse('2026-11-12'), ends: Date.parse('2027-11-02') },
    ],
    exceptions: [{ allow: 'sev-snp.provisional', until: Date.parse('2027-01-01'), because: 'an update runs' }],
    warnings: [{ code: 'smt', detail: 'SMT is on' }],
    keyset: { epoch: 3, kids: ['53c1000000000000'], ends: Date.parse('2026-11-10T15:04:00Z') },
    ends: Date.parse('2026-11-10T14:14:00Z'),
  }
  t.strictSame(verdictLines(verified), [
    '✓ AMD SEV-SNP, Turin, chip 1e550a8e01020304, genuine: VEK → ICA → ARK, not revoked (crl of 2026-11-12, until 2027-11-02)',
    '✓ patch level fmc 1, snp 7',
    '✓ not debuggable, and every setting of the machine is allowed',
    '✓ runs release 1.4.2 (current), measurement 09ef32ac…, which covers firmware and kernel',
    '✓ these keys, for a question asked just now: 53c1000000000000 until 2026-11-10 15:04',
    '! excepted: sev-snp.provisional before 2027-01-01, because an update runs',
    '! SMT is on',
    'verified until 2026-11-10 14:14 UTC',
  ])
  t.equal(verdictLines({ ...verified, verified: 'test' })[0], '! TEST PLATFORM: proves nothing')
  const { SealgateError } = await import('../../../../plugins/sealed/client/error.ts')
  const error = new SealgateError('unverified', {
    reason: 'tcb_too_low',
    detail: 'current snp',
    checks: [{ id: 'parse', ok: true }],
  })
  t.match(refusalLines(error)[1], /tcb_too_low \(current snp\)\. The patch level is below/)
})
