import t from 'tap'
import { digestInTurns, openInTurns, sealInTurns } from '../../../../plugins/sealed/enclave/long-bytes.ts'
import { cipherOf } from '../../../../plugins/sealed/wire/aead.node.ts'
import { padded, same } from '../../../../plugins/sealed/wire/bytes.ts'
import { answerDigest, answerPieces, requestDigest, requestPieces } from '../../../../plugins/sealed/wire/receipt.ts'
import { freshNonce, open, seal } from '../../../../plugins/sealed/wire/seal.ts'
import { turnsDuring } from '../../../turns-during.ts'

const key = new Uint8Array(32).fill(7)
const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => at % 251)
const lengths = [0, 1, 262_143, 262_144, 262_145, 1_000_003]

t.test('bytes that are sealed in turns of the loop are those that are sealed at once', async (t) => {
  for (const length of lengths) {
    const [nonce, plain] = [freshNonce(), bytesOf(length)]
    const pieces = [plain.subarray(0, 100), plain.subarray(100)]
    const sealed = await sealInTurns(cipherOf(key, nonce), pieces, 1)
    t.ok(same(sealed, seal(key, nonce, plain)), `${length} bytes`)
    const filled = await sealInTurns(cipherOf(key, nonce), pieces, 1024)
    t.ok(same(filled, seal(key, nonce, padded(plain, 1024))), `${length} bytes in buckets`)
    t.ok(same((await openInTurns(key, nonce, sealed))!, plain), `${length} bytes open`)
    t.ok(same(open(key, nonce, sealed)!, plain), `${length} bytes open at once`)
  }
})

t.test('changed bytes do not open in turns of the loop', async (t) => {
  const [nonce, length] = [freshNonce(), 600_000]
  for (const at of [0, 300_000, length - 1, length, length + 15]) {
    const sealed = seal(key, nonce, bytesOf(length)).slice()
    sealed[at]! ^= 1
    t.equal(await openInTurns(key, nonce, sealed), null, `a changed byte at ${at}`)
  }
})

t.test('digests of receipts are the same in turns of the loop', async (t) => {
  for (const length of lengths) {
    const [nonce, bytes] = [freshNonce(), bytesOf(length)]
    t.ok(same(await digestInTurns(requestPieces([nonce, bytes])), requestDigest([nonce, bytes])), 'of a request')
    t.ok(same(await digestInTurns(answerPieces(nonce, bytes)), answerDigest(nonce, bytes)), 'of an answer')
  }
})

t.test('others have their turn while long bytes are sealed, opened and hashed', async (t) => {
  const [nonce, plain] = [freshNonce(), bytesOf(4_000_000)]
  const sealed = seal(key, nonce, plain)
  const work = {
    sealing: () => sealInTurns(cipherOf(key, nonce), [plain], 1),
    opening: () => openInTurns(key, nonce, sealed),
    hashing: () => digestInTurns(requestPieces([plain])),
  }
  for (const [name, run] of Object.entries(work)) {
    const turns = await turnsDuring(run)
    t.ok(turns >= 15, `${turns} turns of ${name}`)
  }
})
