import t from 'tap'
import { emptyTrailer, printedReply, sealedReply } from '../../../../plugins/sealed/enclave/reply.ts'
import { fromHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { openJson } from '../../../../plugins/sealed/wire/seal.ts'
import { turnsDuring } from '../../../turns-during.ts'

const asker = { secret: new Uint8Array(32).fill(7), named: null }
const jsonOf = (length: number): Uint8Array => Buffer.from(JSON.stringify('a'.repeat(length)))

t.test('a sealed answer of any length opens to its JSON, and a long one stays bytes', async (t) => {
  for (const length of [1, 261_000, 262_143, 3_000_000]) {
    const reply = await printedReply(asker, jsonOf(length), emptyTrailer)
    if (reply.kind !== 'body') throw new Error('frames')
    const { encryptedResponse: sealed, nonce } = reply.body
    t.equal(sealed instanceof Uint8Array, length > 262_000, `the form of ${length} characters`)
    const bytes = sealed instanceof Uint8Array ? sealed : fromHex(String(sealed), 4_000_000)!
    const opened = openJson(asker.secret, fromHex(String(nonce), 24)!, bytes)
    t.ok(opened === 'a'.repeat(length), `${length} characters`)
  }
})

t.test('a long answer is printed and sealed in turns of the loop, and a short one at once', async (t) => {
  t.notOk(printedReply(asker, jsonOf(1_000), emptyTrailer) instanceof Promise)
  const sealing = await turnsDuring(async () => printedReply(asker, jsonOf(3_000_000), emptyTrailer))
  t.ok(sealing >= 10, `${sealing} turns of sealing`)
  const values = Array.from({ length: 200_000 }, (_, at) => at)
  t.notOk(sealedReply(asker, values.slice(0, 100), emptyTrailer) instanceof Promise)
  const printing = await turnsDuring(async () => sealedReply(asker, values, emptyTrailer))
  t.ok(printing >= 100, `${printing} turns of a value`)
})
