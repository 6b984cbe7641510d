import t from 'tap'
import { appraise } from '../../../../plugins/sealed/evidence/appraise.ts'
import { readDocument } from '../../../../plugins/sealed/evidence/nitro-document.ts'
import { Refusal } from '../../../../plugins/sealed/evidence/reasons.ts'
import { toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { withoutChromium } from '../../../fakes/chromium.ts'
import { type AskedEvidence, evidenceTab } from '../../../fakes/evidence-tab.ts'
import { makeSnp } from '../../../fakes/platform/snp.ts'
import { hexSample, json, pem, sample } from './samples.ts'

const measurements = ['81'.repeat(48)]
const everyPlatform = { measurements, platforms: ['sev-snp', 'tdx', 'nitro'] }
const zeros = '00'.repeat(64)
const now = Date.parse('2026-03-01')

const snp = (report: Uint8Array, vek: string, authorities: string, crl: string): AskedEvidence => {
  const [ica, ark] = pem(`snp/ask_ark_${authorities}.pem`).map(toHex)
  const certificates = { vek: toHex(sample(`snp/${vek}`)), ica, ark }
  const collateral = { crl: toHex(sample(`snp/x_test_amd_${crl}_crl.pem.bin`)) }
  const evidence = { type: 'sev-snp', v: 1, report: toHex(report), certificates, collateral }
  return { evidence, policy: everyPlatform, now, reportData: zeros }
}
const tdx = (quote: Uint8Array, collateral: string, at: string): AskedEvidence => ({
  evidence: { type: 'tdx', v: 1, quote: toHex(quote), collateral: json(`tdx/${collateral}_collateral.json`) },
  ...{ policy: everyPlatform, now: Date.parse(at), reportData: zeros },
})
const nitro = (name: string, later = 1000): AskedEvidence => {
  const document = sample(`nitro/nitro_${name}-attestation-doc-bytes`)
  const at = readDocument(document).timestamp + later
  const evidence = { type: 'nitro', v: 1, document: toHex(document) }
  return { evidence, policy: everyPlatform, now: at, reportData: zeros }
}

const [four, five] = [sample('tdx/phala_tdx_quote'), sample('tdx/gotdx_quote_v5_sample.dat')]
const genoa = (file: string) => snp(sample(`snp/${file}`), 'tinfoil_vcek.der', 'genoa', 'genoa')

/** The real files, each with its reason. The image of a stranger is nobody's release: everything before it holds. */
const real: readonly (readonly [name: string, asked: AskedEvidence, reason: string])[] = [
  ['quote 4', tdx(four, 'phala_tdx_quote', '2025-06-20'), 'measurement_not_allowed'],
  ['quote 5', tdx(five, 'phala_tdx_quote_outdated', '2026-03-01'), 'measurement_not_allowed'],
  [
    'a worn quote',
    tdx(sample('tdx/phala_tdx_quote_outdated'), 'phala_tdx_quote_outdated', '2026-03-01'),
    'tcb_too_low',
  ],
  ['quote 4 today', tdx(four, 'phala_tdx_quote', '2026-11-22'), 'collateral_expired'],
  [
    'text behind a quote',
    tdx(sample('tdx/gotdx_tdx_prod_quote_SPR_E4.dat'), 'phala_tdx_quote', '2025-06-20'),
    'evidence_malformed',
  ],
  ['Genoa, whose list ended', genoa('tinfoil_report.bin'), 'collateral_expired'],
  [
    'a quote of another platform',
    tdx(sample('tdx/gotdx_cos-113-tdx-quote.dat'), 'phala_tdx_quote', '2025-06-20'),
    'collateral_invalid',
  ],
  [
    'the quote without the text behind it',
    tdx(sample('tdx/gotdx_tdx_prod_quote_SPR_E4.dat').subarray(0, 4935), 'phala_tdx_quote', '2025-06-20'),
    'collateral_invalid',
  ],
  ['a Milan of a cloud', genoa('x_test_gce_sevsnp_report.pem.bin'), 'platform_not_allowed'],
  ['Azure', genoa('x_test_azure_sevsnp_report.pem.bin'), 'platform_not_allowed'],
  ['Milan', snp(hexSample('snp/report_milan.hex'), 'vcek_milan.der', 'milan', 'milan'), 'platform_not_allowed'],
  [
    'Milan in debug mode',
    snp(sample('snp/gosev_attestation.bin'), 'gosev_vcek.testcer', 'milan', 'milan'),
    'platform_not_allowed',
  ],
  ['Nitro', nitro('valid'), 'report_data_mismatch'],
  ['an old document of Nitro', nitro('valid', 300_001), 'evidence_stale'],
  ['Nitro in debug mode', nitro('debug-mode'), 'debug'],
]

const inNode = ({ evidence, policy, now }: AskedEvidence): Promise<string> => {
  const half = new Uint8Array(32)
  return appraise(evidence, policy, { keysetHash: half, challenge: half, releaseDigest: half, now }).then(
    () => 'verified',
    (error: unknown) => (error instanceof Refusal ? error.reason : String(error)),
  )
}

t.test('the same evidence says the same in Chromium', { skip: withoutChromium }, async (t) => {
  const tab = await evidenceTab()
  t.teardown(() => tab.close())
  for (const [name, asked, reason] of real) {
    t.equal((await tab.tried(asked)).said, reason, name)
    t.equal(await inNode(asked), reason, `${name}, in Node`)
  }
  const [, asked] = real[0]!
  const { quote } = asked.evidence as { quote: string }
  const changed = { ...asked.evidence, quote: `${quote.slice(0, 400)}00${quote.slice(402)}` }
  t.equal((await tab.tried({ ...asked, evidence: changed })).said, 'signature_invalid')

  const reportData = toHex(four.subarray(48 + 520, 48 + 584))
  const made = makeSnp({ now, reportData: four.subarray(48 + 520, 48 + 584) })
  const policy = { measurements: ['ab'.repeat(48)] }
  const test = { evidence: made.evidence, policy, roots: { snp: made.root }, now, reportData }
  t.equal((await tab.tried(test)).said, 'test sev-snp')
  const { roots: _, ...pinned } = test
  t.equal((await tab.tried(pinned)).said, 'root_unknown')
  t.equal((await tab.tried({ ...test, reportData: zeros })).said, 'report_data_mismatch')
})
