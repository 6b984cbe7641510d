import t from 'tap'
import { p384 } from '@noble/curves/nist.js'
import { readCertificate } from '../../../../plugins/sealed/evidence/certificate.ts'
import { newChecks } from '../../../../plugins/sealed/evidence/checks.ts'
import { snpFloors } from '../../../../plugins/sealed/evidence/floors.ts'
import { snpProfiles } from '../../../../plugins/sealed/evidence/profiles.ts'
import { roots } from '../../../../plugins/sealed/evidence/roots.ts'
import { type SnpRules, checkSnp } from '../../../../plugins/sealed/evidence/snp.ts'
import { readReport } from '../../../../plugins/sealed/evidence/snp-report.ts'
import { toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { fuzzed, places } from './fuzz.ts'
import { hexSample, pem, refusal, sample } from './samples.ts'

const day = 86_400_000
const standard: SnpRules = {
  ...snpProfiles.standard,
  roots: roots['sev-snp'],
  floors: { Genoa: snpFloors.Genoa!.tcb },
  clouds: [],
  chips: null,
  mitigations: null,
  provisional: null,
}

const evidenceOf = (report: Uint8Array, vek: Uint8Array, authorities: string, crl: string) => {
  const [ica, ark] = pem(authorities) as [Uint8Array, Uint8Array]
  return {
    type: 'sev-snp',
    v: 1,
    report: toHex(report),
    certificates: { vek: toHex(vek), ica: toHex(ica), ark: toHex(ark) },
    collateral: { crl: toHex(sample(crl)) },
  }
}

const genoaReport = sample('snp/tinfoil_report.bin')
const genoa = evidenceOf(
  genoaReport,
  sample('snp/tinfoil_vcek.der'),
  'snp/ask_ark_genoa.pem',
  'snp/x_test_amd_genoa_crl.pem.bin',
)
const at = Date.parse('2026-03-01')
// AMD's list at hand ended before this chip's certificate was issued, so no time suits both; only the list's age is excepted here.
const aged: SnpRules = { ...standard, grace: 365 * day }

const refused = async (evidence: object, rules: SnpRules, now: number): Promise<string | null> =>
  refusal(() => checkSnp(evidence as Record<string, unknown>, rules, now, newChecks()))

t.test('a real Genoa passes in everything but the age of its list', async (t) => {
  const found = await checkSnp(genoa, aged, at, newChecks())
  t.equal(found.product, 'Genoa')
  t.equal(found.measurement, toHex(genoaReport.subarray(0x90, 0xc0)))
  t.strictSame(found.tcb, { fmc: 0, bootloader: 10, tee: 0, snp: 23, microcode: 84 })
  t.strictSame(
    found.warnings.map(({ code }) => code),
    ['smt'],
  )
  t.equal(await refused(genoa, standard, at), 'collateral_expired: revocation list')
  t.equal(await refused(genoa, standard, Date.parse('2025-11-03')), 'certificate_expired: not valid yet')
  t.equal(await refused(genoa, { ...standard, products: ['Turin'] }, at), 'platform_not_allowed: Genoa')
})

t.test('the signature of a real report holds for @noble too', async (t) => {
  const { signature, signed } = readReport(genoaReport)
  const { info } = readCertificate(sample('snp/tinfoil_vcek.der')).key
  t.ok(p384.verify(signature, signed, info.subarray(-97), { lowS: false }))
})

t.test('a floor refuses one step below in each component', async (t) => {
  const floor = snpFloors.Genoa!.tcb
  for (const component of ['bootloader', 'snp', 'microcode'] as const) {
    const higher = { ...aged, floors: { Genoa: { ...floor, [component]: floor[component] + 1 } } }
    t.equal(await refused(genoa, higher, at), `tcb_too_low: reported ${component}`)
  }
  t.match(await refused(genoa, { ...aged, floors: {} }, at), 'tcb_too_low: no floor is known for Genoa')
})

t.test('reports of Milan refuse, in debug mode and out of it', async (t) => {
  const milan = { ...aged, products: ['Milan'] as const, floors: { Milan: { ...snpFloors.Genoa!.tcb, snp: 0 } } }
  const crl = 'snp/x_test_amd_milan_crl.pem.bin'
  const debug = evidenceOf(
    sample('snp/gosev_attestation.bin'),
    sample('snp/gosev_vcek.testcer'),
    'snp/ask_ark_milan.pem',
    crl,
  )
  const plain = evidenceOf(
    hexSample('snp/report_milan.hex'),
    sample('snp/vcek_milan.der'),
    'snp/ask_ark_milan.pem',
    crl,
  )
  for (const evidence of [debug, plain]) {
    t.equal(await refused(evidence, standard, at), 'platform_not_allowed: report version')
    t.equal(await refused(evidence, milan, at), 'platform_not_allowed: report version')
  }
})

t.test("a report that Azure's paravisor wrapped refuses by name", async (t) => {
  const report = toHex(sample('snp/x_test_azure_sevsnp_report.pem.bin'))
  t.equal(await refused({ ...genoa, report }, aged, at), 'platform_not_allowed: paravisor')
})

t.test('a report with the certificate of another chip refuses', async (t) => {
  const { certificates } = genoa
  const turin = { ...certificates, vek: toHex(sample('snp/vcek_turin.der')) }
  t.equal(await refused({ ...genoa, certificates: turin }, aged, at), 'chain_broken: names')
  const gce = toHex(sample('snp/x_test_gce_sevsnp_report.pem.bin'))
  t.match(await refused({ ...genoa, report: gce }, aged, at), /^(platform_not_allowed|chip_mismatch)/)
})

t.test('every flipped bit of report, certificate and list refuses', async (t) => {
  const [vek, crl] = [sample('snp/tinfoil_vcek.der'), sample('snp/x_test_amd_genoa_crl.pem.bin')]
  const flipped = function* (bytes: Uint8Array) {
    for (const byte of places(bytes.length)) {
      const changed = bytes.slice()
      changed[byte]! ^= 1 << (byte % 8)
      yield toHex(changed)
    }
  }
  const passed: string[] = []
  for (const report of flipped(genoaReport))
    if ((await refused({ ...genoa, report }, aged, at)) === null) passed.push('report')
  for (const changed of flipped(vek)) {
    const evidence = { ...genoa, certificates: { ...genoa.certificates, vek: changed } }
    if ((await refused(evidence, aged, at)) === null) passed.push('certificate')
  }
  for (const changed of flipped(crl))
    if ((await refused({ ...genoa, collateral: { crl: changed } }, aged, at)) === null) passed.push('list')
  t.strictSame(passed, [])
})

fuzzed('report', 3, [genoaReport, sample('snp/x_test_gce_sevsnp_report.pem.bin')], readReport)
