import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { readReport } from '../../../../plugins/sealed/evidence/snp-report.ts'
import { readQuote } from '../../../../plugins/sealed/evidence/tdx-quote.ts'
import { commandRunner } from '../../../fakes/command-runner.ts'
import { answersFor } from '../../../fakes/platform/services.ts'
import { json, pem, sample } from '../../../plugins/sealed/evidence/samples.ts'

const command = commandRunner(t)
const run = promisify(execFile)
const quote = sample('tdx/phala_tdx_quote')
const question = readQuote(quote).body.reportData
const record = {
  'provider.txt': 'tdx_guest\n',
  'report.bin': quote,
  'question.bin': question,
  'time.txt': '2025-06-20T00:00:00Z\n',
}

/** What Intel said of this quote at its time, and a list of AMD, as files of a folder. */
const collateral = async (folder: string): Promise<string> => {
  const { pckcrl, rootlist, tcb, identity } = answersFor({ collateral: json('tdx/phala_tdx_quote_collateral.json') })
  const files = {
    'Genoa-crl.der': sample('snp/x_test_amd_genoa_crl.pem.bin'),
    'intel-root-crl.der': rootlist!.body,
    'intel-platform-crl.der': pckcrl!.body,
    'intel-processor-crl.der': pckcrl!.body,
    'intel-tcb-b0c06f000000.json': tcb!.body,
    'intel-qe-identity.json': identity!.body,
  }
  for (const [name, body] of Object.entries(files)) await writeFile(join(folder, name), body)
  for (const [name, { headers = {} }] of [
    ['intel-tcb-b0c06f000000.pem', tcb!],
    ['intel-qe-identity.pem', identity!],
  ] as const)
    await writeFile(join(folder, name), decodeURIComponent(Object.values(headers)[0]!))
  return folder
}

const judged = async (
  t: Test,
  change: Readonly<Record<string, string | Uint8Array | null>> = {},
  { policy, more = [], json = true }: { policy?: object; more?: readonly string[]; json?: boolean } = {},
) => {
  const folder = t.testdir({ boot: {}, collateral: {}, 'policy.json': JSON.stringify(policy ?? {}) })
  for (const [name, bytes] of Object.entries({ ...record, ...change }))
    if (bytes !== null) await writeFile(join(folder, 'boot', name), bytes)
  const beside = await collateral(join(folder, 'collateral'))
  const { code, stdout, stderr } = await command(
    [
      ...['verify', '--boot', join(folder, 'boot'), '--collateral', beside, ...more],
      ...(json ? ['--json'] : []),
      ...(policy === undefined ? [] : ['--policy', join(folder, 'policy.json')]),
    ],
    {},
  )
  return `${code} ${stdout}${stderr}`
}

t.test('a recorded boot is judged as a client judges the platform', async (t) => {
  t.match(await judged(t), /^0 \{"verified":true,"platform":"tdx","product":"TDX b0c06f000000","chip":"/)
})

const otherQuestion = question.map((byte, at) => (at === 63 ? byte ^ 1 : byte))
const otherReport = quote.map((byte, at) => (at === 48 + 136 ? byte ^ 1 : byte))
const refused: readonly (readonly [string, Readonly<Record<string, string | Uint8Array | null>>, RegExp])[] = [
  ['another question', { 'question.bin': otherQuestion }, /^1 .*"reason":"report_data_mismatch"/],
  ['a changed report', { 'report.bin': otherReport }, /^1 .*"reason":"signature_invalid"/],
  ['a later time', { 'time.txt': '2025-09-20T00:00:00Z' }, /^1 .*"reason":"collateral_expired"/],
  ['another platform', { 'provider.txt': 'arm_cca_guest' }, /^2 sealgate: provider\.txt names neither/],
  ['a short question', { 'question.bin': question.subarray(1) }, /^2 sealgate: The record has no question/],
  ['no time', { 'time.txt': 'today' }, /^2 sealgate: The record has no question of 64 bytes, or no time/],
  ['no report', { 'report.bin': null }, /^2 sealgate: /],
]

t.test('a record that is wrong in one thing is refused', async (t) => {
  for (const [name, change, wanted] of refused)
    await t.test(name, async (t) => t.match(await judged(t, change), wanted))
})

/** Certificates as a host of AMD lays them beside a report: a table of names and places, then the bytes. */
const blobOf = (certificates: Readonly<Record<string, Uint8Array>>): Buffer => {
  const entries = Object.entries(certificates)
  const table = Buffer.alloc(24 * (entries.length + 1))
  let end = table.length
  for (const [at, [guid, { length }]] of entries.entries()) {
    table.write(guid, 24 * at, 'hex')
    table.writeUInt32LE(end, 24 * at + 16)
    table.writeUInt32LE(length, 24 * at + 20)
    end += length
  }
  return Buffer.concat([table, ...Object.values(certificates)])
}

t.test('certificates that the host laid beside a recorded report count', async (t) => {
  const report = sample('snp/tinfoil_report.bin')
  const [ica, ark] = pem('snp/ask_ark_genoa.pem')
  const names = {
    '63da758de6644564adc5f4b93be8accd': sample('snp/tinfoil_vcek.der'),
    '4ab7b379bbac4fe4a02f05aef327c782': ica!,
    c0b406a4a803495297433fb6014cd0ae: ark!,
  }
  const change = {
    'provider.txt': 'sev_guest\n',
    'report.bin': report,
    'question.bin': readReport(report).reportData,
    'time.txt': '2026-03-01T00:00:00Z\n',
  }
  const judge = (blob: Uint8Array | null) => judged(t, { ...change, 'certificates.bin': blob })
  // The list at hand had ended by then; every check of certificates comes before it.
  const holds = /^1 .*"reason":"collateral_expired".*"certificates","ok":true/
  t.match(await judge(blobOf(names)), holds)
  t.match(await judge(null), /^1 .*"reason":"evidence_malformed"/, 'without them the folder lacks them')
  const strange = { ...names, '63da758de6644564adc5f4b93be8accd': sample('snp/vcek_milan.der') }
  t.match(await judge(blobOf(strange)), /^1 .*"reason":"evidence_malformed"/, 'those of another chip do not count')
  t.match(await judge(new Uint8Array()), /^1 .*"reason":"evidence_malformed"/)
})

const measurement = '0'.repeat(96)

t.test('a policy, a memory and a time count for a recorded boot', async (t) => {
  const at = t.testdir({ 'high.json': '{"evaluation":99999}', 'seen.json': '{}' })
  const stated: readonly (readonly [string, Parameters<typeof judged>[2], RegExp])[] = [
    ['a policy that fits', { policy: { platforms: ['tdx'] } }, /^0 /],
    ['another platform', { policy: { platforms: ['sev-snp'] } }, /^1 .*"reason":"platform_not_allowed"/],
    ['another machine', { policy: { tdx: { ppids: ['00'.repeat(16)] } } }, /^1 .*"reason":"chip_not_allowed"/],
    ['a policy that cannot be used', { policy: { profile: 'strict' } }, /^2 .*needed by the profile strict/],
    ['another image', { policy: { measurements: [measurement] } }, /^1 .*"reason":"measurement_not_allowed"/],
    ['another image by its option', { more: ['--measurements', measurement] }, /^1 .*"measurement_not_allowed"/],
    ['releases', { policy: { releases: ['00'.repeat(32)] } }, /^2 sealgate: --boot cannot judge releases/],
    ['a number that fell', { more: ['--memory', join(at, 'high.json')] }, /^1 .*"reason":"collateral_expired"/],
    ['a number to remember', { more: ['--memory', join(at, 'seen.json')] }, /^0 /],
    ['a later time', { more: ['--at', '2025-09-20T00:00:00Z'] }, /^1 .*"reason":"collateral_expired"/],
    ['no time', { more: ['--at', 'today'] }, /^2 sealgate: --at is a time/],
    ['an option of a service', { more: ['--nonce', '00'.repeat(32)] }, /^2 sealgate: verify --boot takes no --nonce/],
    ['an option of an enclave', { more: ['--allow-insecure-dev'] }, /^2 .*takes no --allow-insecure-dev/],
    ['a stray argument', { more: ['https://ai.example.org'] }, /^2 .*https:\/\/ai\.example\.org is one argument too/],
  ]
  for (const [name, given, wanted] of stated)
    await t.test(name, async (t) => t.match(await judged(t, {}, given), wanted))
  t.match(JSON.parse(await readFile(join(at, 'seen.json'), 'utf8')), { evaluation: Number })
})

t.test('the measurement of a boot is compared with those of a policy', async (t) => {
  const [, own = ''] = /"measurement":"([0-9a-f]{96})"/.exec(await judged(t)) ?? []
  const told = await judged(t, {}, { policy: { measurements: [own] }, json: false })
  t.match(told, new RegExp(`^0 [^]*✓ measurement\\n[^]*✓ measurement ${own}, which the policy names`))
  t.match(await judged(t, {}, { json: false }), `! measurement ${own}, compared with nothing`)
})

/** Programs in front of those of the system, which play the kernel's folder of reports: an entry answers once it is made. */
const kernel = async (folder: string): Promise<string> => {
  const at = join(folder, 'bin')
  await mkdir(at)
  const programs = {
    mkdir: `/bin/mkdir "$@"\ncase "$1" in ${folder}/tsm/*) cp ${folder}/quote "$1/outblob"; echo tdx_guest >"$1/provider";; esac\n`,
    rmdir: `case "$1" in ${folder}/tsm/*) cp "$1/inblob" ${folder}/asked; /bin/rm -r "$1";; esac\n`,
    dmesg: 'echo "[0.1] tdx: Guest detected"; echo "[0.2] a line of something else"\n',
  }
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(at, name), `#!/bin/sh\n${text}`)
    await chmod(join(at, name), 0o755)
  }
  return at
}

t.test('the script records what the reader reads', async (t) => {
  const folder = t.testdir({ tsm: {} })
  await writeFile(join(folder, 'quote'), quote)
  const env = { PATH: `${await kernel(folder)}:${process.env['PATH']}`, TSM_REPORT: join(folder, 'tsm') }
  const at = join(folder, 'boot')
  const { stdout } = await run('sh', ['examples/record-boot.sh', at], { env })
  t.match(stdout, /read it before you share it/)
  const kept = (name: string) => readFile(join(at, name))
  t.same(await kept('report.bin'), Buffer.from(quote))
  t.same(await kept('question.bin'), await readFile(join(folder, 'asked')), 'the kernel was asked this')
  t.equal((await kept('question.bin')).length, 64)
  t.equal(String(await kept('kernel-log.txt')), '[0.1] tdx: Guest detected\n')
  const server = await command(['verify', '--boot', at, '--collateral', folder, '--json'], {})
  t.match(server, { code: 1, stdout: /"reason":"collateral_missing"/ }, 'the reader takes the folder')

  await rm(join(folder, 'tsm'), { recursive: true })
  await t.rejects(run('sh', ['examples/record-boot.sh', at], { env }), /has no configfs-tsm/)
})
