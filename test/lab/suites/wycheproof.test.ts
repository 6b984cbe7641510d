import { createCipheriv, createDecipheriv, hkdfSync, timingSafeEqual } from 'node:crypto'
import { expand, extract } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { ed25519 } from '@noble/curves/ed25519.js'
import { ml_dsa65 as mlDsa } from '@noble/post-quantum/ml-dsa.js'
import t from 'tap'
import { checkEd25519, checkSignature, flatSignature, publicKeyOf } from '../../../plugins/sealed/evidence/keys.ts'
import { aead as nativeAead } from '../../../plugins/sealed/wire/aead.node.ts'
import { type Aead, aead as portableAead } from '../../../plugins/sealed/wire/aead.ts'
import { unwrapKey, wrapKey } from '../../../plugins/sealed/wire/file.ts'
import { fromHex, toHex } from '../../../plugins/sealed/wire/bytes.ts'
import { isNative, mlKem as nativeKem } from '../../../plugins/sealed/wire/ml-kem.node.ts'
import { type MlKem, mlKem as portableKem } from '../../../plugins/sealed/wire/ml-kem.ts'
import { holds } from '../../../plugins/sealed/wire/signature.ts'
import { x25519 as nativeX25519 } from '../../../plugins/sealed/wire/x25519.node.ts'
import { type X25519, x25519 as portableX25519 } from '../../../plugins/sealed/wire/x25519.ts'
import { type Verdicts, vectorsIn, verdictsOf } from './verdicts.ts'

t.setTimeout(600_000)

type Fields = Readonly<Record<string, string>>

/** A group of cases: its fields, and those of each case. */
interface Group extends Readonly<Record<string, unknown>> {
  readonly tests: readonly Case[]
}

interface Case {
  readonly tcId: number
  readonly result: 'valid' | 'invalid' | 'acceptable'
  readonly flags: readonly string[]
  readonly comment?: string
}

const bytes = (hex: unknown): Uint8Array => {
  const read = typeof hex === 'string' ? fromHex(hex, hex.length / 2) : null
  if (read === null) throw new Error('The vector has no hex')
  return read
}

const groupsIn = async (name: string): Promise<readonly Group[]> => {
  const { testGroups } = (await vectorsIn(`wycheproof/${name}_test.json`)) as { readonly testGroups: readonly Group[] }
  return testGroups
}

/** The bytes that a road gives, or the error that it throws. */
const tried = async (road: () => Uint8Array | boolean | Promise<unknown>): Promise<Uint8Array | boolean | Error> => {
  try {
    const given = await road()
    return given instanceof Uint8Array || typeof given === 'boolean' ? given : true
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Valid: the expected bytes. Invalid: an error or false. Acceptable: either of them, and never other bytes. */
const judge = (verdicts: Verdicts, vector: Case, given: Uint8Array | boolean | Error, expected?: Uint8Array): void => {
  const id = `${vector.tcId} ${vector.result} ${vector.comment ?? ''}`.trim()
  const refused = given instanceof Error || given === false
  const right =
    !refused && (expected === undefined || (given instanceof Uint8Array && toHex(given) === toHex(expected)))
  if (vector.result === 'valid' ? right : vector.result === 'invalid' ? refused : refused || right) verdicts.passed(id)
  else verdicts.failed(id, given instanceof Error ? given.message : refused ? 'refused' : 'other bytes, or accepted')
}

/** Plays each case of a file; a road says what it gives, and what it should. */
const play = (
  suite: string,
  name: string,
  road: (vector: Case & Fields, group: Group, verdicts: Verdicts) => void | Promise<void>,
): void => {
  t.test(suite, { timeout: 300_000 }, async (t) => {
    const verdicts = verdictsOf(suite)
    for (const group of await groupsIn(name))
      for (const vector of group.tests) await road(vector as Case & Fields, group, verdicts)
    await verdicts.told(t)
  })
}

const roads = <T>(portable: T, native: T) => [['noble', portable] as const, ['OpenSSL', native] as const]

for (const [by, aead] of roads<Aead>(portableAead, nativeAead))
  play(`Wycheproof XChaCha20-Poly1305, ${by}`, 'xchacha20_poly1305', async (vector, _group, verdicts) => {
    const [key, nonce, aad, plain] = [vector['key'], vector['iv'], vector['aad'], vector['msg']].map(bytes)
    const sealed = Buffer.concat([bytes(vector['ct']), bytes(vector['tag'])])
    const opened = await tried(() => aead.open(key!, nonce!, new Uint8Array(sealed), aad))
    if (vector.result === 'valid') {
      const made = await tried(() => aead.seal(key!, nonce!, plain!, aad))
      if (!(made instanceof Uint8Array) || toHex(made) !== toHex(sealed))
        return verdicts.failed(String(vector.tcId), 'other sealed bytes')
    }
    judge(verdicts, vector, opened, plain)
  })

for (const [by, x25519] of roads<X25519>(portableX25519, nativeX25519))
  play(`Wycheproof X25519, ${by}`, 'x25519', async (vector, _group, verdicts) => {
    const agreed = await tried(() => x25519.agree(bytes(vector['private']), bytes(vector['public'])))
    // Points of low order agree on zeros, which the product refuses.
    judge(verdicts, vector, agreed, bytes(vector['shared']))
  })

for (const [by, mlKem] of roads<MlKem>(portableKem, nativeKem)) {
  play(`Wycheproof ML-KEM-768, ${by}`, 'mlkem_768', async (vector, _group, verdicts) => {
    const opened = await tried(() => mlKem.opener(bytes(vector['seed']))(bytes(vector['c'])))
    judge(verdicts, vector, opened, vector.result === 'valid' ? bytes(vector['K']) : undefined)
  })

  play(`Wycheproof ML-KEM-768 encapsulation, ${by}`, 'mlkem_768_encaps', async (vector, _group, verdicts) => {
    const made = await tried(() => {
      const { cipherText, sharedSecret } = mlKem.encapsulate(bytes(vector['ek']), bytes(vector['m']))
      return new Uint8Array(Buffer.concat([cipherText, sharedSecret]))
    })
    const expected = vector.result === 'valid' ? Buffer.concat([bytes(vector['c']), bytes(vector['K'])]) : undefined
    // A key that is refused under given randomness is refused under fresh one too: OpenSSL takes none.
    const fresh = await tried(() => mlKem.encapsulate(bytes(vector['ek'])).sharedSecret)
    if (vector.result === 'invalid' && !(fresh instanceof Error))
      return verdicts.failed(String(vector.tcId), 'accepted under fresh randomness')
    judge(verdicts, vector, made, expected && new Uint8Array(expected))
  })

  play(`Wycheproof ML-KEM-768 key generation, ${by}`, 'mlkem_768_keygen_seed', async (vector, _group, verdicts) => {
    const made = await tried(() => mlKem.publicKeyOf(bytes(vector['seed'])))
    judge(verdicts, vector, made, vector.result === 'valid' ? bytes(vector['ek']) : undefined)
  })
}

play('Wycheproof ML-KEM-768 expanded keys', 'mlkem_768_semi_expanded_decaps', (vector, _group, verdicts) => {
  verdicts.absent(String(vector.tcId), 'need a key that is no seed')
})

for (const [by, derive] of [
  [
    'noble',
    (ikm: Uint8Array, salt: Uint8Array, info: Uint8Array, size: number) =>
      expand(sha256, extract(sha256, ikm, salt), info, size),
  ],
  [
    'OpenSSL',
    (ikm: Uint8Array, salt: Uint8Array, info: Uint8Array, size: number) =>
      new Uint8Array(hkdfSync('sha256', ikm, salt, info, size)),
  ],
] as const)
  play(`Wycheproof HKDF-SHA256, ${by}`, 'hkdf_sha256', async (vector, _group, verdicts) => {
    const [ikm, salt, info] = [vector['ikm'], vector['salt'], vector['info']].map(bytes)
    const made = await tried(() => derive(ikm!, salt!, info!, Number(vector['size'])))
    judge(verdicts, vector, made, vector.result === 'valid' ? bytes(vector['okm']) : undefined)
  })

const lattice = mlDsa.keygen()
const curve = ed25519.keygen()

/** By message in hex: many cases sign the same one, and ML-DSA takes its time. */
const latticeSignatures = new Map<string, string>()
const latticeSignature = (message: string): string => {
  const known = latticeSignatures.get(message)
  if (known !== undefined) return known
  const made = toHex(mlDsa.sign(bytes(message), lattice.secretKey))
  latticeSignatures.set(message, made)
  return made
}

/** SPKI of Ed25519 before its 32 bytes. */
const edKey = (group: Group): Uint8Array => bytes(group['publicKeyDer']).subarray(-32)

play('Wycheproof Ed25519, noble', 'ed25519', async (vector, group, verdicts) => {
  const [data, made] = [bytes(vector['msg']), bytes(vector['sig'])]
  const pair = { ed25519: toHex(made), ml_dsa_65: latticeSignature(String(vector['msg'])) }
  const keys = { ed25519: toHex(edKey(group)), ml_dsa_65: toHex(lattice.publicKey) }
  judge(verdicts, vector, holds(pair, data, keys))
})

play('Wycheproof Ed25519, OpenSSL', 'ed25519', async (vector, group, verdicts) => {
  const [data, made] = [bytes(vector['msg']), bytes(vector['sig'])]
  judge(verdicts, vector, await tried(() => checkEd25519(edKey(group), made, data, 'signature_invalid')))
})

play('Wycheproof ML-DSA-65, noble', 'mldsa_65_verify', async (vector, group, verdicts) => {
  const id = String(vector.tcId)
  if ((vector['ctx'] ?? '') !== '') return verdicts.absent(id, 'sign under a context')
  const [data, made] = [bytes(vector['msg']), bytes(vector['sig'])]
  const pair = { ed25519: toHex(ed25519.sign(data, curve.secretKey)), ml_dsa_65: toHex(made) }
  const keys = { ed25519: toHex(curve.publicKey), ml_dsa_65: String(group['publicKey']) }
  judge(verdicts, vector, holds(pair, data, keys))
})

const curveSuites = [
  ['ECDSA P-384', 'ecdsa_secp384r1_sha384', 'p384', 'ecdsa-sha384'],
  ['ECDSA P-256', 'ecdsa_secp256r1_sha256', 'p256', 'ecdsa-sha256'],
] as const
for (const [suite, file, kind, algorithm] of curveSuites)
  play(`Wycheproof ${suite} in DER, OpenSSL`, file, async (vector, group, verdicts) => {
    const key = publicKeyOf(bytes(group['publicKeyDer']))
    const checked = await tried(() => {
      const flat = flatSignature(bytes(vector['sig']), kind)
      return checkSignature(key, algorithm, flat, bytes(vector['msg']), ['chain_broken', 'signature'])
    })
    judge(verdicts, vector, checked)
  })

play('Wycheproof ECDSA P-384 flat, OpenSSL', 'ecdsa_secp384r1_sha384_p1363', async (vector, group, verdicts) => {
  const key = publicKeyOf(bytes(group['publicKeyDer']))
  const [data, made] = [bytes(vector['msg']), bytes(vector['sig'])]
  judge(verdicts, vector, await tried(() => checkSignature(key, 'ecdsa-sha384', made, data, ['chain_broken', ''])))
})

play('Wycheproof RSA-PSS 4096, OpenSSL', 'rsa_pss_4096_sha384_mgf1_48', async (vector, group, verdicts) => {
  const key = publicKeyOf(bytes(group['publicKeyDer'] ?? (group['publicKey'] as Fields)['publicKeyDer']))
  const [data, made] = [bytes(vector['msg']), bytes(vector['sig'])]
  const checked = () => checkSignature(key, 'rsa-pss-sha384', made, data, ['chain_broken', 'signature'])
  judge(verdicts, vector, await tried(checked))
})

/** The cipher of `plugins/shared/dialects/keepsakes.ts`: AES-256-GCM with a nonce of 12 bytes and a tag of 16. */
play('Wycheproof AES-256-GCM, OpenSSL', 'aes_gcm', async (vector, group, verdicts) => {
  if (group['keySize'] !== 256 || group['ivSize'] !== 96)
    return verdicts.absent(String(vector.tcId), 'have another key or nonce')
  const [key, nonce, aad, plain] = [vector['key'], vector['iv'], vector['aad'], vector['msg']].map(bytes)
  const opened = await tried(() => {
    const decipher = createDecipheriv('aes-256-gcm', key!, nonce!, { authTagLength: 16 })
    decipher.setAuthTag(bytes(vector['tag']))
    decipher.setAAD(aad!)
    return new Uint8Array(Buffer.concat([decipher.update(bytes(vector['ct'])), decipher.final()]))
  })
  if (vector.result === 'valid') {
    const cipher = createCipheriv('aes-256-gcm', key!, nonce!, { authTagLength: 16 })
    cipher.setAAD(aad!)
    const sealed = Buffer.concat([cipher.update(plain!), cipher.final(), cipher.getAuthTag()])
    if (!timingSafeEqual(sealed, Buffer.concat([bytes(vector['ct']), bytes(vector['tag'])])))
      return verdicts.failed(String(vector.tcId), 'other sealed bytes')
  }
  judge(verdicts, vector, opened, plain)
})

play('Wycheproof AES-256-KWP, noble', 'aes_kwp', async (vector, group, verdicts) => {
  const id = String(vector.tcId)
  if (group['keySize'] !== 256) return verdicts.absent(id, 'have another key')
  const [key, plain, wrapped] = [vector['key'], vector['msg'], vector['ct']].map(bytes)
  if (plain!.length !== 32 && vector.result === 'valid') return verdicts.absent(id, 'wrap no key of 32 bytes')
  const opened = await tried(() => unwrapKey(key!, wrapped!) ?? false)
  if (vector.result === 'valid' && toHex(wrapKey(key!, plain!)) !== toHex(wrapped!))
    return verdicts.failed(id, 'other wrapped bytes')
  judge(verdicts, vector, opened, plain)
})

t.test('OpenSSL does the work of ML-KEM from Node 24.7 on', async (t) => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  t.equal(isNative, major! > 24 || (major === 24 && minor! >= 7))
})
