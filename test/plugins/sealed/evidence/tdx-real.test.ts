import { createRequire } from 'node:module'
import t from 'tap'
import { p256 } from '@noble/curves/nist.js'
import { newChecks } from '../../../../plugins/sealed/evidence/checks.ts'
import { tdxFloor } from '../../../../plugins/sealed/evidence/floors.ts'
import { snpProfiles } from '../../../../plugins/sealed/evidence/profiles.ts'
import { roots } from '../../../../plugins/sealed/evidence/roots.ts'
import { checkSignature } from '../../../../plugins/sealed/evidence/keys.ts'
import { readPem } from '../../../../plugins/sealed/evidence/pem.ts'
import type { TdxRules } from '../../../../plugins/sealed/evidence/rules.ts'
import { checkTdx } from '../../../../plugins/sealed/evidence/tdx.ts'
import { readPlatformLevels, readQuotingIdentity } from '../../../../plugins/sealed/evidence/tdx-collateral.ts'
import { readQuote } from '../../../../plugins/sealed/evidence/tdx-quote.ts'
import { fromHex, toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { fuzzed, places } from './fuzz.ts'
import { json, refusal, sample } from './samples.ts'

const rules: TdxRules = {
  root: roots.tdx,
  minimumEvaluation: tdxFloor.evaluation,
  ppids: null,
  withoutAdvisories: false,
  statuses: {},
  grace: snpProfiles.standard.grace,
}
const used = { allow: 'tdx.status:OutOfDate', until: 0, because: '' }

const evidenceOf = (quote: Uint8Array, collateral: string) => ({
  type: 'tdx',
  v: 1,
  quote: toHex(quote),
  collateral: json(collateral),
})
const refused = (evidence: object, now: number, own: TdxRules = rules) =>
  refusal(() => checkTdx(evidence as Record<string, unknown>, own, now, newChecks()))

const four = evidenceOf(sample('tdx/phala_tdx_quote'), 'tdx/phala_tdx_quote_collateral.json')
const fiveQuote = sample('tdx/gotdx_quote_v5_sample.dat')
const five = evidenceOf(fiveQuote, 'tdx/phala_tdx_quote_outdated_collateral.json')
const [fourAt, fiveAt] = [Date.parse('2025-06-20'), Date.parse('2026-03-01')]

t.test('real quotes pass at the time of their collateral', async (t) => {
  const found = await checkTdx(four, rules, fourAt, newChecks())
  t.match(found, { product: 'TDX b0c06f000000', tcb: { status: 'UpToDate', evaluation: 17 } })
  t.equal(found.measurement.length, 96)
  t.match(await checkTdx(five, rules, fiveAt, newChecks()), { tcb: { status: 'UpToDate', evaluation: 18 } })
})

t.test('the signatures of a real quote hold for @noble too', async (t) => {
  const { signature, signed, attestationKey, quoting, quotingSignature, chain } = readQuote(
    sample('tdx/phala_tdx_quote'),
  )
  const key = Uint8Array.of(4, ...attestationKey)
  t.ok(p256.verify(signature, signed, key, { lowS: false }))
  const [leaf] = readPem(Buffer.from(chain).toString('latin1').replace(/\0$/, ''), 3)
  t.ok(p256.verify(quotingSignature, quoting.whole, leaf!.key.info.subarray(-65), { lowS: false }))
})

t.test('real answers of Intel hold by the signer of its data, for @noble too', async (t) => {
  const [signer] = readPem(four.collateral['tcb_info_issuer_chain']!, 2)
  const held = async (text: string, signature: Uint8Array) => {
    await checkSignature(signer!.key, 'ecdsa-sha256', signature, Buffer.from(text), ['collateral_invalid', ''])
    t.ok(p256.verify(signature, Buffer.from(text), signer!.key.info.subarray(-65), { lowS: false }))
  }
  /** The substring that Intel signed. */
  const answered = async (name: string) => {
    const whole = Buffer.from(sample(`tdx/${name}`)).toString()
    const [, text, signature] = /^\{"(?:tcbInfo|enclaveIdentity)":(.*),"signature":"(\w+)"\}\s*$/s.exec(whole)!
    await held(text!, fromHex(signature!, 64)!)
    return text!
  }
  const levels = async (name: string) => readPlatformLevels(await answered(name)).tcbEvaluationDataNumber
  t.equal(await levels('gotdx_sample_tcbInfo_response'), 15)
  t.equal(await levels('gotdx_sample_tcbinfo_response_v5'), 18)
  t.equal(readQuotingIdentity(await answered('gotdx_sample_qeIdentity_response')).isvprodid, 2)
  for (const { collateral } of [four, five])
    for (const name of ['tcb_info', 'qe_identity'])
      await held(collateral[name]!, fromHex(collateral[`${name}_signature`]!, 64)!)
})

interface OtherVerifier {
  verify(
    quote: Buffer,
    collateral: object,
    seconds: number,
  ): { readonly status: string; readonly advisory_ids: readonly string[] }
}

/** A verifier of others. It checks no signature of a revocation list, so it counts on good evidence alone. */
const other = createRequire(import.meta.url)('@phala/dcap-qvl') as OtherVerifier

t.test('a verifier of others says the same of good quotes', async (t) => {
  for (const [evidence, at] of [
    [four, fourAt],
    [five, fiveAt],
  ] as const) {
    const found = await checkTdx(evidence, rules, at, newChecks())
    const verdict = other.verify(Buffer.from(evidence.quote, 'hex'), evidence.collateral, at / 1000)
    t.match(verdict, { status: found.tcb['status'], advisory_ids: [] })
  }
  const worn = sample('tdx/phala_tdx_quote_outdated')
  const { collateral } = evidenceOf(worn, 'tdx/phala_tdx_quote_outdated_collateral.json')
  t.throws(
    () => other.verify(Buffer.from(worn), collateral, fiveAt / 1000),
    /No matching TCB level/,
    'nor takes a worn one',
  )
})

t.test('real quotes refuse at other times, and when they are outdated', async (t) => {
  const today = Date.parse('2026-11-22')
  t.match(await refused(four, today), /^collateral_expired/)
  t.match(await refused(five, today), /^collateral_expired/)
  t.equal(await refused(four, Date.parse('2025-07-19T10:20:00Z')), 'collateral_expired: tcb_info')
  t.match(await refused(four, Date.parse('2025-06-01')), /future/)
  const outdated = evidenceOf(sample('tdx/phala_tdx_quote_outdated'), 'tdx/phala_tdx_quote_outdated_collateral.json')
  // Its loader of the module is older than any level that Intel lists.
  t.equal(await refused(outdated, fiveAt), 'tcb_too_low: platform')
  const excepted = { ...rules, statuses: { OutOfDate: { advisories: [], used } } }
  t.equal(await refused(outdated, fiveAt, excepted), 'tcb_too_low: platform')
  t.equal(
    await refused(four, fourAt, { ...rules, minimumEvaluation: 18 }),
    'collateral_expired: evaluation number of tcb_info',
  )
})

t.test('quotes of other platforms refuse', async (t) => {
  for (const name of ['gotdx_cos-113-tdx-quote.dat', 'gotdx_tdx_prod_quote_SPR_E4.dat'])
    t.match(
      await refused({ ...four, quote: toHex(sample(`tdx/${name}`)) }, fourAt),
      /^(collateral_invalid: fmspc|certificate_|chain_|evidence_)/,
      name,
    )
})

t.test('behind a quote stand zeros alone', async (t) => {
  const texted = sample('tdx/gotdx_tdx_prod_quote_SPR_E4.dat')
  t.equal(await refusal(() => readQuote(texted)), 'evidence_malformed: bytes behind the quote')
  t.equal(await refusal(() => readQuote(texted.subarray(0, 4935))), null)
  t.equal(await refused({ ...five, quote: `${five.quote}0000` }, fiveAt), null)
  const padded = (size: number) => Uint8Array.from({ length: size }, (_, at) => fiveQuote[at] ?? 0)
  t.equal(await refusal(() => readQuote(padded(16 * 1024))), null)
  t.equal(await refusal(() => readQuote(padded(16 * 1024 + 1))), 'evidence_malformed: quote')
  t.equal(await refused({ ...five, quote: `${five.quote}01` }, fiveAt), 'evidence_malformed: bytes behind the quote')
  t.equal(await refused({ ...five, quote: five.quote.slice(2) }, fiveAt), 'evidence_malformed: quote version')
  t.equal(await refused({ ...five, quote: five.quote.slice(0, -2) }, fiveAt), 'evidence_malformed: quote is cut')
})

t.test('every flipped bit of quote and collateral refuses', async (t) => {
  const passed: string[] = []
  const flipped = (bytes: Uint8Array, at: number) => {
    const changed = bytes.slice()
    changed[at]! ^= 1 << (at % 8)
    return changed
  }
  for (const at of places(fiveQuote.length))
    if ((await refused({ ...five, quote: toHex(flipped(fiveQuote, at)) }, fiveAt)) === null) passed.push(`quote ${at}`)
  for (const name of ['root_ca_crl', 'pck_crl', 'tcb_info_signature', 'qe_identity_signature']) {
    const whole = Buffer.from(five.collateral[name]!, 'hex')
    for (const at of places(whole.length)) {
      const collateral = { ...five.collateral, [name]: toHex(flipped(whole, at)) }
      if ((await refused({ ...five, collateral }, fiveAt)) === null) passed.push(`${name} ${at}`)
    }
  }
  for (const name of ['tcb_info', 'qe_identity', 'tcb_info_issuer_chain']) {
    const whole = five.collateral[name]!
    for (const at of places(whole.length)) {
      const text = whole.slice(0, at) + String.fromCharCode(whole.charCodeAt(at) ^ 1) + whole.slice(at + 1)
      const collateral = { ...five.collateral, [name]: text }
      if ((await refused({ ...five, collateral }, fiveAt)) === null) passed.push(`${name} ${at}`)
    }
  }
  t.strictSame(passed, [])
})

fuzzed('quote', 4, [sample('tdx/phala_tdx_quote'), fiveQuote, sample('tdx/gotdx_cos-113-tdx-quote.dat')], readQuote)
fuzzed('PEM', 5, [Buffer.from(four.collateral['tcb_info_issuer_chain']!)], (bytes) =>
  readPem(Buffer.from(bytes).toString('latin1'), 2),
)

const read = (reader: (text: string) => unknown) => (bytes: Uint8Array) => reader(Buffer.from(bytes).toString())
const texts = (name: string) => [four, five].map(({ collateral }) => Buffer.from(collateral[name]!))
fuzzed('tcb_info', 7, texts('tcb_info'), read(readPlatformLevels))
fuzzed('qe_identity', 8, texts('qe_identity'), read(readQuotingIdentity))
