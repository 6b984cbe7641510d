import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { ml_dsa65 as mlDsa } from '@noble/post-quantum/ml-dsa.js'

/**
 * Writes receipt.json: the digests of a request and of answers, and signed receipts. Hashes and Ed25519 come from the
 * runtime's own library and from the text of docs/wire.md, never from the code under test; ML-DSA is @noble's.
 */
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const drawn = (label: string, length: number) => createHash('shake256', { outputLength: length }).update(label).digest()
const sha256 = (...parts: readonly (Buffer | string)[]) =>
  createHash('sha256')
    .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
    .digest()
const framed = (label: string, parts: readonly Buffer[]) =>
  sha256(
    label,
    ...parts.flatMap((part) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(part.length)
      return [length, part]
    }),
  )

const secret = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), drawn('ed25519', 32)]),
  format: 'der',
  type: 'pkcs8',
})
const ed = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32)
const ml = mlDsa.keygen(new Uint8Array(drawn('ml-dsa-65', 32)))

const parts = ['cipher text', 'nonce', 'parameters', 'nonce of a file', 'file'].map((label) => drawn(label, 24))
const frames = ['first', 'second'].map((label) => drawn(label, 60))
const [nonce, sealed] = [drawn('answer nonce', 24), drawn('answer', 80)]
const request = framed('rvenc-request/1\0', parts)
const answer = framed('rvenc-answer/1\0', [nonce, sealed])

const texts = [1, 2, 3].map((number) =>
  JSON.stringify({
    ...{ v: 1, route: 'rvenc/chat/completions', key: hex(drawn('kid', 8)), release: hex(drawn('release', 32)) },
    ...{ epoch: 1_800_000_000, begun: 1_800_000_001_000, request: hex(request), answer: hex(answer) },
    ...{ model: 'small', backend: 'house', tokens: { input: 7, output: 5 }, audioSeconds: null },
    ...{ ended: 1_800_000_002_000, number },
  }),
)
const [one, two, three] = texts.map((text) => sha256('\0rvenc-receipt/1\0', text)) as [Buffer, Buffer, Buffer]
const pair = sha256('\x01', one, two)
const root = sha256('\x01', pair, three)
const paths = [[two, three], [one, three], [pair]]
const data = Buffer.concat([Buffer.from('rvenc-receipts/1\0'), root])
const signatures = {
  ed25519: hex(sign(null, data, secret)),
  ml_dsa_65: hex(mlDsa.sign(new Uint8Array(data), ml.secretKey, { extraEntropy: false })),
}

console.log(
  JSON.stringify(
    {
      keys: { ed25519: hex(ed), ml_dsa_65: hex(ml.publicKey) },
      keys_hash: hex(sha256('rvenc-receipt-keys/1\0', ed, Buffer.from(ml.publicKey))),
      request: { parts: parts.map(hex), digest: hex(request) },
      answer: { nonce: hex(nonce), sealed: hex(sealed), digest: hex(answer) },
      frames: { parts: frames.map(hex), digest: hex(framed('rvenc-frames/1\0', frames)) },
      receipts: texts.map((text, index) => ({
        text,
        place: { index, size: 3, path: paths[index]!.map(hex) },
        ...signatures,
      })),
    },
    null,
    1,
  ),
)
