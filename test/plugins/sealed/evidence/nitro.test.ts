import t from 'tap'
import { p384 } from '@noble/curves/nist.js'
import { appraise } from '../../../../plugins/sealed/evidence/appraise.ts'
import { readCbor } from '../../../../plugins/sealed/evidence/cbor.ts'
import { clockSkewMs } from '../../../../plugins/sealed/evidence/chain.ts'
import { newChecks } from '../../../../plugins/sealed/evidence/checks.ts'
import { checkNitro } from '../../../../plugins/sealed/evidence/nitro.ts'
import { readDocument } from '../../../../plugins/sealed/evidence/nitro-document.ts'
import { nitroMeasurement } from '../../../../plugins/sealed/evidence/measurement.ts'
import { roots } from '../../../../plugins/sealed/evidence/roots.ts'
import { concat, toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { constraints, keyUsage } from '../../../fakes/platform/certificates.ts'
import { hex } from '../../../fakes/platform/der.ts'
import { type NitroOptions, cbor, makeNitro, nitroKeys, register } from '../../../fakes/platform/nitro.ts'
import { fuzzed, places } from './fuzz.ts'
import { refusal, sample } from './samples.ts'

const rules = { root: roots.nitro as string, maximumAge: 300_000 }
const [valid, debug] = [
  sample('nitro/nitro_valid-attestation-doc-bytes'),
  sample('nitro/nitro_debug-mode-attestation-doc-bytes'),
]
const evidenceOf = (document: Uint8Array) => ({ type: 'nitro', v: 1, document: toHex(document) })
const refused = (evidence: object, now: number, own = rules) =>
  refusal(() => checkNitro(evidence as Record<string, unknown>, own, now, newChecks()))

t.test('real documents', async (t) => {
  const { timestamp, chain, signature, signed, userData } = readDocument(valid)
  const leaf = chain[0]!
  t.ok(p384.verify(signature, signed, leaf.key.info.subarray(-97), { lowS: false }), 'for @noble too')
  // Its user data is its own, not ours: everything before holds.
  t.not(userData?.length, 64)
  const whole = 'report_data_mismatch: user_data'
  t.equal(await refused(evidenceOf(valid), timestamp + 1000), whole)
  t.equal(await refused(evidenceOf(valid), timestamp + 299_000), whole)
  t.equal(await refused(evidenceOf(valid), timestamp + 300_001), 'evidence_stale: too old')
  t.equal(await refused(evidenceOf(valid), leaf.notAfter + clockSkewMs + 1000), 'certificate_expired: no longer valid')
  t.equal(await refused(evidenceOf(valid), Date.parse('2026-11-22')), 'certificate_expired: no longer valid')
  t.equal(await refused(evidenceOf(debug), readDocument(debug).timestamp + 1000), 'debug: pcrs')
  const passed: string[] = []
  const wanted = new Set([null, whole])
  for (const at of places(valid.length)) {
    const changed = valid.slice()
    changed[at]! ^= 1 << (at % 8)
    if (wanted.has(await refused(evidenceOf(changed), timestamp + 1000))) passed.push(String(at))
  }
  t.strictSame(passed, [], 'every flipped bit refuses')
})

const now = Date.parse('2026-11-01T12:00:00Z')
const reportData = new Uint8Array(64).fill(7)
type Changes = Omit<NitroOptions, 'now' | 'reportData'>
type Row = readonly [name: string, changes: Changes, wanted: string | null]

const member =
  (name: string, value: Parameters<typeof cbor>[0] | undefined) =>
  (members: Map<any, any>): void =>
    void (value === undefined ? members.delete(name) : members.set(name, value))
const pcr = (index: number | string, value: Uint8Array | undefined) => (pcrs: Map<any, any>) =>
  void (value === undefined ? pcrs.delete(index) : pcrs.set(index, value))

const rows: readonly Row[] = [
  ['a document', {}, null],
  ['a tagged document', { tagged: true }, null],
  ['another algorithm', { header: cbor(new Map([[1, -7]])) }, 'evidence_malformed: header'],
  [
    'more in the header',
    {
      header: cbor(
        new Map([
          [1, -35],
          [4, 1],
        ]),
      ),
    },
    'evidence_malformed: header',
  ],
  ['an unprotected header', { unprotected: new Map([[1, -35]]) }, 'evidence_malformed: header'],
  ['signed by another key', { by: nitroKeys.other }, 'signature_invalid: document'],
  ['a longer signature', { signature: (bytes) => concat(bytes, Uint8Array.of(0)) }, 'evidence_malformed: signature'],
  ['NitroTPM', { members: member('nitrotpm_pcrs', new Map()) }, 'evidence_malformed: member'],
  ['another member', { members: member('x', 1) }, 'evidence_malformed: member'],
  ['another digest', { members: member('digest', 'SHA256') }, 'evidence_malformed: digest'],
  ['no module', { members: member('module_id', undefined) }, 'evidence_malformed: digest'],
  ['no timestamp', { members: member('timestamp', undefined) }, 'evidence_malformed: timestamp'],
  ['as old as may be', { members: member('timestamp', now - 300_000) }, null],
  ['too old', { members: member('timestamp', now - 300_001) }, 'evidence_stale: too old'],
  ['nearly of the future', { members: member('timestamp', now + clockSkewMs) }, null],
  ['of the future', { members: member('timestamp', now + clockSkewMs + 1) }, 'evidence_stale: of the future'],
  ['PCR0 of zeros', { pcrs: pcr(0, register(0)) }, 'debug: pcrs'],
  ['PCR1 of zeros', { pcrs: pcr(1, register(0)) }, 'debug: pcrs'],
  ['PCR2 of zeros', { pcrs: pcr(2, register(0)) }, 'debug: pcrs'],
  ['no PCR0', { pcrs: pcr(0, undefined) }, 'evidence_malformed: pcrs'],
  ['a short PCR', { pcrs: pcr(3, new Uint8Array(32)) }, 'evidence_malformed: pcrs'],
  ['PCR 32', { pcrs: pcr(32, register(0)) }, 'evidence_malformed: pcrs'],
  ['a PCR of a name', { pcrs: pcr('0x', register(0)) }, 'evidence_malformed: pcrs'],
  ['no user data', { members: member('user_data', null) }, 'report_data_mismatch: user_data'],
  ['short user data', { members: member('user_data', new Uint8Array(63)) }, 'report_data_mismatch: user_data'],
  [
    'user data as nonce',
    { members: (map) => (map.set('nonce', reportData), void map.delete('user_data')) },
    'report_data_mismatch: user_data',
  ],
  ['leaf ended', { leaf: { notAfter: now - clockSkewMs - 1000 } }, 'certificate_expired: no longer valid'],
  ['leaf within the skew', { leaf: { notAfter: now - clockSkewMs + 1000 } }, null],
  ['leaf by another key', { leaf: { by: nitroKeys.other } }, 'chain_broken: signature'],
  ['zone is no authority', { zone: { extensions: [keyUsage(0x04)] } }, 'chain_broken: an issuer is no authority'],
  ['leaf is an authority', { leaf: { extensions: [constraints()] } }, 'chain_broken: the leaf is an authority'],
  ['no bundle', { members: member('cabundle', []) }, 'evidence_malformed: cabundle'],
  ['a certificate that is a text', { members: member('certificate', 'x') }, 'evidence_malformed: certificate'],
  [
    'PCRs as a list of pairs',
    {
      members: member(
        'pcrs',
        [0, 1, 2].map((at) => [at, register(0xab)]),
      ),
    },
    'evidence_malformed: pcrs',
  ],
  [
    'five parts',
    { afterwards: (bytes) => concat(Uint8Array.of(0x85), bytes.subarray(1), Uint8Array.of(0xf6)) },
    'evidence_malformed: document',
  ],
  [
    'a payload that is a list',
    { afterwards: () => cbor([cbor(new Map([[1, -35]])), new Map(), cbor([1]), new Uint8Array(96)]) },
    'evidence_malformed: payload',
  ],
  ['bytes behind', { afterwards: (bytes) => concat(bytes, Uint8Array.of(0)) }, 'evidence_malformed: cbor'],
]

t.test('documents of the test platform', async (t) => {
  for (const [name, changes, wanted] of rows) {
    const made = makeNitro({ now, reportData, ...changes })
    t.equal(await refused(made.evidence, now, { ...rules, root: made.root }), wanted, name)
  }
  const made = makeNitro({ now, reportData })
  t.equal(await refused(made.evidence, now), 'root_unknown')
  t.equal(await refused({ document: '' }, now), 'evidence_malformed: cbor')
  t.equal(await refused({}, now), 'evidence_malformed: document')
  t.equal(await refusal(() => readDocument(new Uint8Array(16 * 1024 + 1))), 'evidence_malformed: document')
})

t.test('a policy takes Nitro by name alone', async (t) => {
  const made = makeNitro({ now, reportData })
  const question = {
    keysetHash: reportData.subarray(32),
    challenge: reportData.subarray(32),
    releaseDigest: reportData.subarray(32),
    now,
  }
  const measurement = await nitroMeasurement({ pcr0: register(0xab), pcr1: register(0xab), pcr2: register(0xab) })
  const policy = { measurements: [measurement], testRoots: { nitro: made.roots } }
  t.equal(await refusal(() => appraise(made.evidence, policy, question)), 'platform_not_allowed: nitro')
  const verdict = await appraise(made.evidence, { ...policy, platforms: ['nitro'] }, question)
  t.match(verdict, { verified: 'test', platform: 'nitro', ends: now + 7_200_000 })
  t.ok(verdict.warnings.some(({ code }) => code === 'amazon_fleet'))
})

t.test('CBOR has one form', async (t) => {
  const fine = ['00', '1818', '190100', '20', '4100', '6161', '80', 'a10102', 'f6', '81818100']
  for (const text of fine) t.equal(await refusal(() => readCbor(hex(text))), null, text)
  const broken = {
    'a number that could be shorter': '1817',
    'two bytes for one': '1900ff',
    'eight bytes for four': '1b00000000ffffffff',
    'beyond 2^53': '1bffffffffffffffff',
    'an indefinite string': '5f4100ff',
    'an indefinite list': '9fff',
    'a key twice': 'a201020103',
    'a list as a key': 'a1800',
    'no UTF-8': '61ff',
    'a tag': 'c000',
    'a tag without a value': 'c0',
    'a float': 'f90000',
    true: 'f5',
    'five levels': '8181818100',
    'a cut string': '4200',
    'bytes behind': '0000',
    nothing: '',
    'a long list': `9841${'00'.repeat(65)}`,
  }
  for (const [name, text] of Object.entries(broken))
    t.equal(
      await refusal(() => readCbor(hex(text.padEnd(text.length + (text.length % 2), '0')))),
      'evidence_malformed: cbor',
      name,
    )
})

fuzzed('document', 6, [valid, debug], readDocument)
