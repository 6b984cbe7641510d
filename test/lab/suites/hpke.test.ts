import { AEAD_ChaCha20Poly1305, KDF_HKDF_SHA256, KDF_SHAKE256 } from '@panva/hpke-noble'
import t from 'tap'
import { openingEnd, suiteOver } from '../../../plugins/sealed/ehbp/exchange.ts'
import { fromHex, toHex } from '../../../plugins/sealed/wire/bytes.ts'
import { encapsulate, kems, opener, publicKeyOf } from '../../../plugins/sealed/wire/kem.ts'
import { vectorsIn, verdictsOf } from './verdicts.ts'

/** A vector of the HPKE group; all values but the ids are hex. */
interface Vector {
  readonly kdf_id: number
  readonly aead_id: number
  readonly info: string
  readonly ikmE: string
  readonly skRm: string
  readonly pkRm: string
  readonly enc: string
  readonly shared_secret: string
  readonly encryptions: readonly { readonly aad: string; readonly ct: string; readonly pt: string }[]
  readonly exports: readonly {
    readonly exporter_context: string
    readonly L: number
    readonly exported_value: string
  }[]
}

const bytes = (hex: string): Uint8Array => fromHex(hex, hex.length / 2)!
const xWing = kems.find(({ name }) => name === 'x-wing')!
/** Key derivations of the vectors, by their numbers. */
const derivations = new Map([
  [0x0001, KDF_HKDF_SHA256],
  [0x0011, KDF_SHAKE256],
])

t.test('the vectors of the HPKE group for X-Wing', async (t) => {
  const verdicts = verdictsOf('HPKE 0x647A')
  for (const vector of (await vectorsIn('hpke-x-wing.json')) as readonly Vector[]) {
    const name = `kdf ${vector.kdf_id}`
    const check = (what: string, given: Uint8Array, expected: string) =>
      toHex(given) === expected ? verdicts.passed(`${name} ${what}`) : verdicts.failed(`${name} ${what}`, toHex(given))
    const [seed, publicKey] = [bytes(vector.skRm), bytes(vector.pkRm)]
    check('public key', publicKeyOf(xWing, seed), vector.pkRm)
    const { cipherText, sharedSecret } = encapsulate(xWing, publicKey, bytes(vector.ikmE))
    check('encapsulated key', cipherText, vector.enc)
    check('shared secret of the sender', sharedSecret, vector.shared_secret)
    const opens = opener(xWing, seed)
    check('shared secret of the receiver', opens(bytes(vector.enc)), vector.shared_secret)
    t.equal(vector.aead_id, 3)
    const suite = suiteOver(xWing, derivations.get(vector.kdf_id), AEAD_ChaCha20Poly1305)
    const context = await suite.SetupRecipient(openingEnd(xWing, opens), bytes(vector.enc), {
      info: bytes(vector.info),
    })
    for (const [at, { aad, ct, pt }] of vector.encryptions.entries())
      check(`message ${at}`, await context.Open(bytes(ct), bytes(aad)), pt)
    for (const [at, { exporter_context, L, exported_value }] of vector.exports.entries())
      check(`export ${at}`, await context.Export(bytes(exporter_context), L), exported_value)
  }
  await verdicts.told(t)
})
