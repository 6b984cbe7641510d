import { X509Certificate, constants, generateKeyPairSync, verify } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { p256, p384 } from '@noble/curves/nist.js'
import t from 'tap'
import { type Certificate, readCertificate } from '../../../../plugins/sealed/evidence/certificate.ts'
import { checkChain, clockSkewMs } from '../../../../plugins/sealed/evidence/chain.ts'
import {
  booleanOf,
  cursor,
  unsignedBytes,
  octetsOf,
  oidOf,
  onlyItem,
  smallInteger,
  tags,
  timeOf,
} from '../../../../plugins/sealed/evidence/der.ts'
import {
  algorithmOf,
  checkSignature,
  flatSignature,
  pointKey,
  publicKeyOf,
} from '../../../../plugins/sealed/evidence/keys.ts'
import { readDocument } from '../../../../plugins/sealed/evidence/nitro-document.ts'
import { readPem } from '../../../../plugins/sealed/evidence/pem.ts'
import { checkList, checkRevocation, readList } from '../../../../plugins/sealed/evidence/revocation-list.ts'
import { roots } from '../../../../plugins/sealed/evidence/roots.ts'
import { readQuote } from '../../../../plugins/sealed/evidence/tdx-quote.ts'
import { toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { curveSigner, pemOf } from '../../../fakes/platform/certificates.ts'
import { hex, integer, sequence } from '../../../fakes/platform/der.ts'
import { fuzzed } from './fuzz.ts'
import { json, pem, refusal, sample } from './samples.ts'

const ders = [
  ...['snp/tinfoil_vcek.der', 'snp/vcek_turin.der', 'snp/vcek_milan.der', 'snp/gosev_vcek.testcer'].map(sample),
  ...[
    ...['snp/ask_ark_milan.pem', 'snp/ask_ark_milan_vlek.pem', 'snp/ask_ark_genoa.pem', 'snp/ask_ark_genoa_vlek.pem'],
    ...['snp/ask_ark_turin_vcek.pem', 'snp/ask_ark_turin_vlek.pem'],
  ].flatMap(pem),
  ...pem('tdx/intel_root.pem'),
  ...pem('nitro/nitro_nitro.pem'),
]
const lists = [
  sample('snp/x_test_amd_genoa_crl.pem.bin'),
  sample('snp/x_test_amd_milan_crl.pem.bin'),
  sample('tdx/gotdx_rootcrl.der'),
  sample('tdx/gotdx_pckcrl'),
]

t.test('a certificate reads as node:crypto reads it', async (t) => {
  for (const der of ders) {
    const [own, other] = [readCertificate(der), new X509Certificate(der)]
    t.equal(BigInt(`0x${own.serial || '0'}`), BigInt(`0x${other.serialNumber}`))
    t.equal(own.notBefore, Date.parse(other.validFrom))
    t.equal(own.notAfter, Date.parse(other.validTo))
    t.equal(own.authority, other.ca)
    t.match(other.subject, `CN=${own.commonName}`)
    t.strictSame(Buffer.from(own.key.info), other.publicKey.export({ type: 'spki', format: 'der' }))
  }
  t.equal(ders.length, 18)
})

t.test('the authorities are the same from every source', async (t) => {
  const known = new Set(ders.map(toHex))
  const others = ['gosev_milan.testcer', 'x_test_amd_sev_milan_root_certs.pem', 'x_test_amd_sev_genoa_root_certs.pem']
  const all = others.flatMap((name) => pem(`snp/${name}`)).map(toHex)
  t.equal(all.length, 4)
  t.ok(all.every((text) => known.has(text)))
})

t.test('every real sample is tried', async (t) => {
  const folder = 'test/vectors/evidence'
  const samples = (await readdir(folder, { recursive: true })).filter((name) => /^\w+\//.test(name))
  const names = (await readdir('test', { recursive: true })).filter((name) => name.endsWith('.test.ts'))
  const texts = (await Promise.all(names.map((name) => readFile(`test/${name}`, 'utf8')))).join('\n')
  const unnamed = samples.filter((sample) => !texts.includes(sample.replace(/^.*\//, '')))
  t.ok(samples.length >= 30, `${samples.length} samples`)
  t.strictSame(unnamed, [])
})

const point = ({ key }: Certificate) => key.info.subarray(key.kind === 'p256' ? -65 : -97)

t.test('every signature of real chains and lists holds for other libraries too', async (t) => {
  const nitro = readDocument(sample('nitro/nitro_valid-attestation-doc-bytes')).chain
  const quote = readQuote(sample('tdx/phala_tdx_quote'))
  const levels = json('tdx/phala_tdx_quote_collateral.json')['tcb_info_issuer_chain']!
  const chains = [
    ...[genoa, chainOf('snp/vcek_turin.der', 'snp/ask_ark_turin_vcek.pem')],
    ...[chainOf('snp/vcek_milan.der', 'snp/ask_ark_milan.pem'), nitro],
    ...[readPem(Buffer.from(quote.chain).toString('latin1').replace(/\0$/, ''), 3), readPem(levels, 2)],
  ]
  let curves = 0
  for (const chain of chains)
    for (const [at, certificate] of chain.entries()) {
      const issuer = chain[at + 1] ?? certificate
      const other = new X509Certificate(certificate.whole)
      t.ok(other.verify(new X509Certificate(issuer.whole).publicKey), `${certificate.commonName} for node:crypto`)
      if (issuer.key.kind === 'rsa') continue
      const curve = issuer.key.kind === 'p256' ? p256 : p384
      t.ok(
        curve.verify(certificate.signature, certificate.signed, point(issuer), { lowS: false }),
        `${certificate.commonName} for @noble`,
      )
      curves++
    }
  t.ok(curves >= 10, `${curves} of curves`)
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 }
  for (const [list, authorities] of [
    [lists[0]!, 'snp/ask_ark_genoa.pem'],
    [lists[1]!, 'snp/ask_ark_milan.pem'],
  ] as const) {
    const { signed, signature } = readList(list)
    const key = new X509Certificate(pem(authorities)[1]!).publicKey
    t.ok(verify('sha384', signed, { key, ...padding }, signature), authorities)
  }
})

t.test('signatures of curves hold for @noble too', async (t) => {
  const check = (curve: typeof p256, signed: { signature: Uint8Array; signed: Uint8Array }, info: Uint8Array) =>
    curve.verify(signed.signature, signed.signed, info.subarray(-(2 * signed.signature.length) / 2 - 1), {
      lowS: false,
    })
  const intel = readCertificate(pem('tdx/intel_root.pem')[0]!)
  t.ok(check(p256, intel, intel.key.info))
  t.ok(check(p256, readList(sample('tdx/gotdx_rootcrl.der')), intel.key.info))
  const amazon = readCertificate(pem('nitro/nitro_nitro.pem')[0]!)
  t.ok(check(p384, amazon, amazon.key.info))
})

const at = Date.parse('2026-03-01')
const chainOf = (leaf: string, authorities: string) => [sample(leaf), ...pem(authorities)].map(readCertificate)
const genoa = chainOf('snp/tinfoil_vcek.der', 'snp/ask_ark_genoa.pem')

t.test('real chains end at pinned roots', async (t) => {
  t.equal(await refusal(() => checkChain(genoa, [roots['sev-snp'].Genoa], at)), null)
  const turin = chainOf('snp/vcek_turin.der', 'snp/ask_ark_turin_vcek.pem')
  t.equal(await refusal(() => checkChain(turin, [roots['sev-snp'].Turin], at)), null)
  const milan = chainOf('snp/vcek_milan.der', 'snp/ask_ark_milan.pem')
  t.equal(await refusal(() => checkChain(milan, [roots['sev-snp'].Milan], at)), null)
})

t.test('a chain refuses', async (t) => {
  const own = [roots['sev-snp'].Genoa]
  const [leaf, ask, ark] = genoa as [(typeof genoa)[0], (typeof genoa)[0], (typeof genoa)[0]]
  const refused = async (chain: typeof genoa, now: number, wanted: string | null) =>
    t.equal(await refusal(() => checkChain(chain, own, now)), wanted)
  await refused([leaf, ask], at, 'root_unknown')
  await refused([ark], at, 'root_unknown')
  t.equal(await refusal(() => checkChain(genoa, [roots['sev-snp'].Turin], at)), 'root_unknown')
  await refused([leaf, ark], at, 'chain_broken: names')
  await refused([leaf, readCertificate(pem('snp/ask_ark_genoa_vlek.pem')[0]!), ark], at, 'chain_broken: names')
  await refused([ask, ark], at, 'chain_broken: the leaf is an authority')
  await refused([leaf, leaf, ark], at, 'chain_broken: names')
  await refused(genoa, leaf.notBefore - clockSkewMs - 1000, 'certificate_expired: not valid yet')
  await refused(genoa, leaf.notBefore - clockSkewMs + 1000, null)
  await refused(genoa, leaf.notAfter + clockSkewMs + 1000, 'certificate_expired: no longer valid')
  await refused(genoa, leaf.notAfter + clockSkewMs - 1000, null)
  const altered = { ...leaf, signed: leaf.signed.slice() }
  altered.signed[100]! ^= 1
  await refused([altered, ask, ark], at, 'chain_broken: signature')
  await refused([leaf, { ...ask, authority: false }, ark], at, 'chain_broken: an issuer is no authority')
  await refused([leaf, { ...ask, usage: 0x80 }, ark], at, 'chain_broken: an issuer may not sign')
  await refused([leaf, ask, { ...ark, pathLength: 0 }], at, 'chain_broken: path length')
})

t.test('real lists', async (t) => {
  const [, ask, ark] = genoa as [(typeof genoa)[0], (typeof genoa)[0], (typeof genoa)[0]]
  const list = readList(lists[0]!)
  t.strictSame([...list.revoked], ['020001'])
  t.equal(list.number, '04')
  t.equal(list.ends, Date.parse('2025-11-03T01:00:00Z'))
  const week = 7 * 86_400_000
  t.equal(await refusal(() => checkList(list, ark, list.ends + week, week)), null)
  t.equal(
    await refusal(() => checkList(list, ark, list.ends + week + 1000, week)),
    'collateral_expired: revocation list',
  )
  t.equal(await refusal(() => checkList(list, ark, list.issued - clockSkewMs + 1000, week)), null)
  t.equal(
    await refusal(() => checkList(list, ark, list.issued - clockSkewMs - 1000, week)),
    'crl_invalid: of the future',
  )
  t.equal(await refusal(() => checkList(list, ask, list.ends, week)), 'crl_invalid: issuer')
  t.equal(await refusal(() => checkList(list, { ...ark, usage: 4 }, list.ends, week)), 'crl_invalid: issuer')
  t.equal(
    await refusal(() => checkList({ ...list, critical: true }, ark, list.ends, week)),
    'crl_invalid: critical extension',
  )
  const altered = { ...list, signed: list.signed.slice() }
  altered.signed[60]! ^= 1
  t.equal(await refusal(() => checkList(altered, ark, list.ends, week)), 'crl_invalid: signature')
  t.equal(await refusal(() => checkRevocation(ask, list)), null)
  t.equal(await refusal(() => checkRevocation({ ...ask, serial: '020001' }, list)), 'certificate_revoked')
  t.equal(await refusal(() => checkRevocation(genoa[0]!, list)), 'crl_invalid: issuer')
  t.equal(await refusal(() => readList(new Uint8Array(65_537))), 'evidence_malformed: revocation list')
  t.equal(await refusal(() => readCertificate(new Uint8Array(4097))), 'evidence_malformed: certificate')
  const pck = readList(lists[3]!)
  t.ok(pck.revoked.size > 10)
})

t.test('DER has one form', async (t) => {
  const refused = async (work: () => unknown, wanted: string | null) =>
    t.equal(await refusal(work), wanted === null ? null : `evidence_malformed: der ${wanted}`)
  const first = (text: string) => cursor(hex(text)).any()
  await refused(() => first('300000'), null)
  await refused(() => onlyItem(hex('3000'), tags.sequence), null)
  await refused(() => onlyItem(hex('300000'), tags.sequence), 'trailing bytes')
  await refused(() => onlyItem(hex('3100'), tags.sequence), 'tag')
  await refused(() => first('3080 0000'), 'length')
  await refused(() => first('308101 00'), 'length')
  await refused(() => first(`30817f${'00'.repeat(127)}`), 'length')
  await refused(() => first(`308180${'00'.repeat(128)}`), null)
  await refused(() => first(`308200ff${'00'.repeat(255)}`), 'length')
  await refused(() => first('308400000000'), 'length')
  await refused(() => first('308401000000'), 'length')
  await refused(() => first('3002 00'), 'cut')
  await refused(() => first('30'), 'cut')
  await refused(() => first('3f0000'), 'tag')
  const integers = { '020100': null, '02017f': null, '02020080': null, '0200': 'integer', '020180': 'integer' }
  for (const [text, wanted] of Object.entries({ ...integers, '0202007f': 'integer', '02020000': 'integer' }))
    await refused(() => unsignedBytes(first(text)), wanted)
  await refused(() => smallInteger(first('02047fffffff')), null)
  await refused(() => smallInteger(first('02050080000000')), 'integer')
  await refused(() => smallInteger(first('02050100000000')), 'integer')
  t.equal(smallInteger(first('02020100')), 256)
  await refused(() => oidOf(first('0603550403')), null)
  for (const text of ['0600', '06025580', '0603558003', '0602 8001', `0621${'01'.repeat(33)}`])
    await refused(() => oidOf(first(text.replace(' ', ''))), 'oid')
  t.equal(booleanOf(first('0101ff')), true)
  for (const text of ['010101', '0100', '0102ffff']) await refused(() => booleanOf(first(text)), 'boolean')
  await refused(() => octetsOf(first('03020000')), null)
  for (const text of ['03020100', '0300']) await refused(() => octetsOf(first(text)), 'bit string')
})

t.test('times have one form', async (t) => {
  const ascii = (text: string) => toHex(new TextEncoder().encode(text))
  const time = (tag: string, text: string) => () =>
    timeOf(cursor(hex(tag + text.length.toString(16).padStart(2, '0') + ascii(text))).any())
  t.equal(time('17', '491231235959Z')(), Date.parse('2049-12-31T23:59:59Z'))
  t.equal(time('17', '500101000000Z')(), Date.parse('1950-01-01T00:00:00Z'))
  t.equal(time('18', '20240229120000Z')(), Date.parse('2024-02-29T12:00:00Z'))
  for (const text of [
    '2412312359Z',
    '241231235959',
    '241231235959+0100',
    '241331000000Z',
    '240230000000Z',
    '241231236000Z',
    '24123123595 Z',
  ])
    t.equal(await refusal(time('17', text)), 'evidence_malformed: der time', text)
  for (const text of ['20240229120000.5Z', '20230229120000Z', '240229120000Z', '00010101000000Z', '20240229250000Z'])
    t.equal(await refusal(time('18', text)), 'evidence_malformed: der time', text)
  t.equal(
    await refusal(() => timeOf(cursor(hex('0c0d3234313233313233353935395a')).any())),
    'evidence_malformed: der time',
  )
})

t.test('signature algorithms are a short list', async (t) => {
  const real = readCertificate(ders[0]!).whole
  const from = Buffer.from(real).indexOf(hex('06092a864886f70d01010a')) - 2
  const pss = real.slice(from, from + 2 + real[from + 1]!)
  t.equal(algorithmOf(pss), 'rsa-pss-sha384')
  for (const byte of pss.keys()) {
    const changed = pss.slice()
    changed[byte]! ^= 1
    t.equal(await refusal(() => algorithmOf(changed)), 'evidence_malformed: signature algorithm')
  }
  t.equal(algorithmOf(hex('300a06082a8648ce3d040303')), 'ecdsa-sha384')
  // SHA-1, SHA-512, RSA of PKCS #1, and parameters behind a curve's algorithm.
  for (const text of [
    '300906072a8648ce3d0401',
    '300a06082a8648ce3d040304',
    '300d06092a864886f70d01010c0500',
    '300c06082a8648ce3d0403030500',
  ])
    t.equal(await refusal(() => algorithmOf(hex(text))), 'evidence_malformed: signature algorithm')
})

t.test('public keys are of three kinds', async (t) => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const short = new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }))
  const wanted = 'evidence_malformed: public key'
  t.equal(await refusal(() => publicKeyOf(short)), wanted, 'RSA of 2048 bits')
  const long = genoa[1]!.key.info
  t.equal(await refusal(() => publicKeyOf(long)), null)
  const unused = long.slice()
  unused[Buffer.from(long).indexOf(hex('0382020f00')) + 4] = 1
  t.equal(await refusal(() => publicKeyOf(unused)), wanted, 'unused bits')
  t.equal(await refusal(() => pointKey('p256', new Uint8Array(63))), wanted, 'a short point')
  const three = long.slice()
  three[three.length - 1] = 3
  t.equal(await refusal(() => publicKeyOf(three)), wanted, 'another exponent')
})

t.test('PEM has one spelling, and a bound', async (t) => {
  const whole = ders.find(({ length }) => length % 3 === 1)!
  const text = pemOf(whole)
  t.equal(await refusal(() => readPem(text, 1)), null)
  const wanted = 'evidence_malformed: pem'
  const bits = text.replace(/[AQgw]==\n/, (last) => `${String.fromCharCode(last.charCodeAt(0) + 1)}==\n`)
  t.not(bits, text)
  t.equal(await refusal(() => readPem(bits, 1)), wanted, 'bits that no byte has')
  t.equal(await refusal(() => readPem(text.replace('==\n', '\n'), 1)), wanted, 'no padding')
  const most = Math.floor((16 * 1024) / text.length)
  t.equal(await refusal(() => readPem(text.repeat(most), most)), null)
  t.equal(await refusal(() => readPem(text.repeat(most + 1), most + 1)), wanted, 'more than 16 KiB')
})

t.test('a signature is of its curve and its hash', async (t) => {
  const wide = sequence(integer(new Uint8Array(33).fill(1)), integer(1))
  t.equal(await refusal(() => flatSignature(wide, 'p256')), 'evidence_malformed: signature', 'wider than the curve')
  t.equal((await flatSignature(wide, 'p384')).length, 96)
  const [key, data] = [curveSigner('p256'), Uint8Array.of(1)]
  const said = (algorithm: 'ecdsa-sha256' | 'ecdsa-sha384' | 'rsa-pss-sha384') =>
    refusal(() =>
      checkSignature({ kind: 'p256', info: key.info }, algorithm, key.flat(data), data, ['signature_invalid', 'it']),
    )
  t.equal(await said('ecdsa-sha256'), null)
  t.equal(await said('ecdsa-sha384'), 'signature_invalid: it', 'the algorithm of another curve')
  t.equal(await said('rsa-pss-sha384'), 'signature_invalid: it', 'of RSA')
})

fuzzed('certificate', 1, ders, readCertificate)
fuzzed('revocation list', 2, lists, readList)
