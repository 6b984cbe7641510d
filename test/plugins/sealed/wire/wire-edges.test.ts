import crypto, { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { x25519 } from '@noble/curves/ed25519.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import t from 'tap'
import { aead as native } from '../../../../plugins/sealed/wire/aead.node.ts'
import { aead as portable } from '../../../../plugins/sealed/wire/aead.ts'
import { utf8, fromHex, toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { encapsulate, kems, opener, publicKeyOf } from '../../../../plugins/sealed/wire/kem.ts'
import { isNative, mlKem as nativeMlKem } from '../../../../plugins/sealed/wire/ml-kem.node.ts'
import { mlKem as portableMlKem } from '../../../../plugins/sealed/wire/ml-kem.ts'
import { streamKey } from '../../../../plugins/sealed/wire/schedule.ts'
import { open } from '../../../../plugins/sealed/wire/seal.ts'
import { x25519 as nativeX25519 } from '../../../../plugins/sealed/wire/x25519.node.ts'
import { x25519 as portableX25519 } from '../../../../plugins/sealed/wire/x25519.ts'

const read = async (name: string) => JSON.parse(await readFile(`test/vectors/${name}.json`, 'utf8'))
const edges = await read('edges')
const draft = await read('x-wing')
const hex = (text: string): Uint8Array => fromHex(text, 1 << 20)!
const kem = (name: string) => kems.find((kem) => kem.name === name)!
const ciphers = { native, portable }
const curves = { native: nativeX25519, portable: portableX25519 }
const lattices = { native: nativeMlKem, portable: portableMlKem }
const speeds = ['native', 'portable'] as const

t.test('XChaCha20-Poly1305', async (t) => {
  const { published, valid, invalid } = edges.aead
  for (const [name, { seal, open }] of Object.entries(ciphers)) {
    const [key, nonce, aad] = [hex(published.key), hex(published.nonce), hex(published.aad)]
    t.equal(toHex(seal(key, nonce, utf8(published.text), aad)), published.sealed, `${published.source}, ${name}`)
    for (const vector of valid) {
      const given = [hex(vector.key), hex(vector.nonce)] as const
      const aad = vector.aad === '' ? undefined : hex(vector.aad)
      t.equal(
        toHex(seal(...given, hex(vector.plain), aad)),
        vector.sealed,
        `${name}: ${vector.plain.length / 2} and ${vector.aad.length / 2} bytes`,
      )
      t.equal(toHex(open(...given, hex(vector.sealed), aad)), vector.plain)
    }
    for (const vector of invalid) {
      t.throws(
        () => open(hex(vector.key), hex(vector.nonce), hex(vector.sealed), hex(vector.aad)),
        `${name}: ${vector.comment}`,
      )
    }
  }
  for (const length of [256 * 1024, 256 * 1024 + 1, 600_000]) {
    const [key, nonce] = [new Uint8Array(32).fill(1), new Uint8Array(24).fill(2)]
    const plain = Uint8Array.from({ length }, (_, at) => at * 7)
    const sealed = native.seal(key, nonce, plain)
    t.ok(Buffer.from(sealed).equals(portable.seal(key, nonce, plain)), `${length} bytes, sealed in slices`)
    t.ok(Buffer.from(native.open(key, nonce, sealed)).equals(plain))
  }
  for (const [name, { seal }] of Object.entries(ciphers)) {
    t.throws(() => seal(new Uint8Array(32), new Uint8Array(23), utf8('text')), `${name}: a short nonce`)
    t.throws(() => seal(new Uint8Array(32), new Uint8Array(25), utf8('text')), `${name}: a long nonce`)
    t.throws(() => seal(new Uint8Array(36), new Uint8Array(24), utf8('text')), `${name}: a long key`)
  }
  for (const vector of invalid)
    t.equal(open(hex(vector.key), hex(vector.nonce), hex(vector.sealed), hex(vector.aad)), null, vector.comment)
  t.ok(valid.length >= 50 && invalid.length >= 40, `${valid.length} valid, ${invalid.length} invalid`)
})

t.test('X25519', async (t) => {
  const { published, valid, refused, refused_lengths, seed } = edges.x25519
  for (const vector of published) {
    t.equal(toHex(x25519.getSharedSecret(hex(vector.scalar), hex(vector.point))), vector.dh, vector.source)
    for (const { publicKeyOf } of Object.values(curves))
      t.equal(toHex(publicKeyOf(hex(vector.scalar))), toHex(x25519.getPublicKey(hex(vector.scalar))), vector.source)
    t.equal(toHex(curves.native.agree(hex(vector.scalar), hex(vector.point))), vector.dh, `${vector.source}, native`)
  }
  for (const [name, curve] of Object.entries(curves)) {
    for (const vector of valid) {
      const open = opener(kem('x25519'), hex(vector.seed), curve.agree)
      t.equal(toHex(open(hex(vector.cipherText))), vector.shared_secret, `${name}: ${vector.comment}`)
      t.not(vector.shared_secret, vector.dh, 'never the raw one')
    }
    for (const point of [...refused, ...refused_lengths]) {
      t.throws(() => opener(kem('x25519'), hex(seed), curve.agree)(hex(point)), `${name}: ${point.slice(0, 16)}`)
    }
  }
  t.throws(() => encapsulate(kem('x25519'), hex(refused[0])), 'nor is one sealed to')
})

t.test('HKDF-SHA-256', async (t) => {
  const { published, lengths, refused_length, stream } = edges.hkdf
  for (const { source, ikm, salt, info, okm } of published) {
    t.equal(toHex(hkdf(sha256, hex(ikm), hex(salt), hex(info), okm.length / 2)), okm, source)
  }
  for (const length of lengths) {
    const okm = hkdf(sha256, hex(length.ikm), hex(length.salt), hex(length.info), length.length)
    t.equal(createHash('sha256').update(okm).digest('hex'), length.sha256, `${length.length} bytes`)
  }
  t.throws(() => hkdf(sha256, hex('00'), undefined, undefined, refused_length))
  for (const { secret, nonce, key } of stream) t.equal(toHex(streamKey(hex(secret), hex(nonce))), key)
})

for (const [name, vector] of [
  ['ml-kem-768', edges.mlKem],
  ['x-wing', edges.xWing],
] as const) {
  t.test(name, async (t) => {
    for (const speed of speeds) {
      const open = opener(kem(name), hex(vector.seed), curves[speed].agree, lattices[speed])
      t.equal(toHex(open(hex(vector.cipherText))), vector.shared_secret)
      for (const { at, by, shared_secret } of vector.changed) {
        const wrong = hex(vector.cipherText)
        wrong[at]! ^= by
        t.equal(toHex(open(wrong)), shared_secret, `${speed}: byte ${at} by ${by} is rejected without a word`)
        t.not(shared_secret, vector.shared_secret)
      }
      for (const { fill, shared_secret } of vector.filled ?? []) {
        t.equal(toHex(open(new Uint8Array(1088).fill(fill))), shared_secret, `${speed}: all ${fill}`)
      }
      for (const length of vector.refused_lengths)
        t.throws(() => open(new Uint8Array(length)), `${speed}: ${length} bytes`)
      for (const point of vector.refused_points ?? []) {
        t.throws(() => open(hex(vector.cipherText.slice(0, 2176) + point)), `${speed}: a point of low order inside`)
      }
    }
    for (const length of [0, 31, 33, 1183, 1215]) {
      t.throws(() => encapsulate(kem(name), new Uint8Array(length)), `a public key of ${length} bytes`)
    }
    const tooLarge = publicKeyOf(kem(name), hex(vector.seed)).fill(255, 0, 1152)
    t.throws(() => encapsulate(kem(name), tooLarge), 'a public key whose numbers are not reduced')
  })
}

t.test('ML-KEM-768 by OpenSSL and by the portable code are one', async (t) => {
  t.equal(isNative, 'decapsulate' in crypto, 'Node has it from 24.7 on')
  const [seed, other] = [1, 2].map((fill) => new Uint8Array(64).fill(fill)) as [Uint8Array, Uint8Array]
  const publicKey = portableMlKem.publicKeyOf(seed)
  t.strictSame(nativeMlKem.publicKeyOf(seed), publicKey)
  for (const [by, { encapsulate, opener }] of Object.entries(lattices)) {
    const key = publicKey.slice()
    const { cipherText, sharedSecret } = encapsulate(key)
    t.equal(sharedSecret.length, 32)
    t.not(toHex(encapsulate(key).cipherText), toHex(cipherText), 'each call draws anew')
    for (const lattice of Object.values(lattices)) t.strictSame(lattice.opener(seed)(cipherText), sharedSecret, by)
    key.set(portableMlKem.publicKeyOf(other))
    const second = encapsulate(key)
    t.strictSame(
      portableMlKem.opener(other)(second.cipherText),
      second.sharedSecret,
      `${by}: a key changed in its place`,
    )
    for (const length of [0, 1183, 1185]) t.throws(() => encapsulate(new Uint8Array(length)), `${by}: ${length} bytes`)
    t.throws(() => encapsulate(publicKey.slice().fill(255, 0, 1152)), `${by}: numbers that are not reduced`)
    for (const length of [0, 32, 63, 65])
      t.throws(() => opener(new Uint8Array(length)), `${by}: a seed of ${length} bytes`)
    for (const length of [0, 1087, 1089]) t.throws(() => opener(seed)(new Uint8Array(length)), `${by}: ${length} bytes`)
  }
})

t.test('a public key that changes in its place is another key', async (t) => {
  for (const name of ['ml-kem-768', 'x-wing']) {
    const [one, other] = [1, 2].map((fill) => publicKeyOf(kem(name), new Uint8Array(kem(name).seed).fill(fill)))
    const randomness = new Uint8Array(name === 'x-wing' ? 64 : 32).fill(7)
    const [first, second] = [one!, other!].map((key) => toHex(encapsulate(kem(name), key, randomness).cipherText))
    t.not(first, second)
    one!.set(other!)
    t.equal(toHex(encapsulate(kem(name), one!, randomness).cipherText), second)
  }
})

t.test(draft.source, async (t) => {
  for (const vector of draft.cases) {
    const publicKey = publicKeyOf(kem('x-wing'), hex(vector.seed))
    const made = encapsulate(kem('x-wing'), publicKey, hex(vector.randomness))
    t.equal(toHex(publicKey), vector.public_key ?? toHex(publicKey), 'public key')
    t.equal(toHex(made.cipherText), vector.cipherText ?? toHex(made.cipherText), 'ciphertext')
    t.equal(toHex(made.sharedSecret), vector.shared_secret, 'shared secret')
    for (const curve of Object.values(curves)) {
      t.equal(
        toHex(opener(kem('x-wing'), hex(vector.seed), curve.agree)(hex(vector.cipherText ?? toHex(made.cipherText)))),
        vector.shared_secret,
      )
    }
  }
})
