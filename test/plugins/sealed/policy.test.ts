import { ed25519 } from '@noble/curves/ed25519.js'
import t from 'tap'
import { connect } from '../../../plugins/sealed/client/client.ts'
import { type Evidence, type Policy, policyOf, verify } from '../../../plugins/sealed/client/verify.ts'
import { kems, publicKeyOf } from '../../../plugins/sealed/wire/kem.ts'
import { fromHex, toHex } from '../../../plugins/sealed/wire/bytes.ts'
import { printKeyset, reportData } from '../../../plugins/sealed/wire/keyset.ts'

const release = new Uint8Array(32).fill(7)
const measurement = 'ab'.repeat(48)
const challenge = new Uint8Array(32).fill(9)
const keyset = printKeyset({
  epoch: 1,
  releaseDigest: release,
  keys: [{ kem: kems[0]!.id, notBefore: 0, notAfter: 1, publicKey: publicKeyOf(kems[0]!, new Uint8Array(32)) }],
})
const claims = { reportData: reportData(keyset, challenge), measurement, debug: false }
const good: Policy = {
  verifiers: { good: async () => claims },
  measurements: [measurement],
  releases: ['07'.repeat(32)],
}
const asked = (policy: Policy, evidence: Evidence = { type: 'good' }) =>
  verify(keyset, evidence, challenge, policyOf(policy), 0)
const fault = (fault: string) => ({ name: 'SealgateError', fault })

t.test('evidence is taken by the policy alone', async (t) => {
  t.ok(await asked(good), 'all of it holds')
  t.ok(await asked({ ...good, measurements: [measurement.toUpperCase()] }), 'upper-case hex is the same')
  for (const type of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    await t.rejects(asked(good, { type }), fault('unverified'), `${type} is no kind of evidence`)
  const inherits = { constructor: undefined, measurements: [measurement] } as unknown as Policy
  await t.rejects(asked({ ...inherits, verifiers: {} }, { type: 'constructor' }), fault('unverified'))
  await t.rejects(asked({ ...good, measurements: ['cd'.repeat(48)] }), fault('unverified'))
  await t.rejects(asked({ ...good, releases: ['08'.repeat(32)] }), fault('unverified'))
  const debug = { good: async () => ({ ...claims, debug: true }) }
  await t.rejects(asked({ ...good, verifiers: debug }), fault('unverified'))
  const replayed = { good: async () => ({ ...claims, reportData: reportData(keyset, release) }) }
  await t.rejects(asked({ ...good, verifiers: replayed }), fault('unverified'), 'evidence for another challenge')
  const { measurements: _, ...unpinned } = good
  await t.rejects(asked(unpinned), fault('unverified'), 'where no measurement is trusted')
  await t.rejects(verify(keyset.subarray(1), { type: 'good' }, challenge, good, 0), fault('unverified'))
})

t.test('development evidence proves nothing, and is taken where the policy says so alone', async (t) => {
  const wanted = reportData(keyset, challenge)
  const signedBy = (key: string) => toHex(ed25519.sign(wanted, fromHex(key, 32)!))
  const other = { type: 'dev', signature: signedBy('01'.repeat(32)) }
  await t.rejects(asked(good, other), fault('insecure'))
  await t.rejects(asked({ allowInsecureDev: true }, other), fault('unverified'), 'a signature of another key')
  await t.rejects(asked({ allowInsecureDev: true }, { type: 'dev' }), fault('unverified'))
  t.ok(await asked({ allowInsecureDev: true }, { type: 'dev', signature: signedBy('5ea19a7e'.repeat(8)) }))
})

t.test('a pin that is not hex of its length is refused when the policy is given', (t) => {
  const wrong = ['', 'release', 'ab', 'zz'.repeat(32), '07'.repeat(31), '07'.repeat(33), `${'07'.repeat(31)}0`]
  const options = { baseUrl: 'http://127.0.0.1:1', apiKey: 'k' }
  for (const pin of wrong) {
    t.throws(() => connect({ ...options, policy: { ...good, releases: [pin] } }), fault('bad_policy'), pin)
    t.throws(() => connect({ ...options, policy: { ...good, measurements: [pin] } }), fault('bad_policy'), pin)
  }
  t.ok(connect({ ...options, policy: good }))
  t.end()
})
