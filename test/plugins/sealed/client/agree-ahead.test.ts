import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { agreeAhead } from '../../../../plugins/sealed/client/seal-request.ts'
import { toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { kems, opener, publicKeyOf } from '../../../../plugins/sealed/wire/kem.ts'

const kem = kems.find(({ name }) => name === 'x-wing')!

t.test('every secret is new, whether it was made ahead or not, and its owner opens it', async (t) => {
  const seed = new Uint8Array(kem.seed).fill(1)
  const publicKey = publicKeyOf(kem, seed)
  const open = opener(kem, seed)
  const seen = new Set<string>()
  for (let turn = 0; turn < 6; turn++) {
    for (let at = 0; at < 3; at++) {
      const { cipherText, sharedSecret } = agreeAhead(kem, publicKey)
      t.equal(toHex(open(cipherText)), toHex(sharedSecret))
      seen.add(toHex(sharedSecret))
    }
    await sleep(10)
  }
  t.equal(seen.size, 18)
})

t.test('what was made ahead for one key is given to no other', async (t) => {
  const seeds = [1, 2].map((fill) => new Uint8Array(kem.seed).fill(fill))
  const [one, other] = seeds.map((seed) => publicKeyOf(kem, seed))
  agreeAhead(kem, one!)
  await sleep(10)
  const { cipherText, sharedSecret } = agreeAhead(kem, other!)
  t.equal(toHex(opener(kem, seeds[1]!)(cipherText)), toHex(sharedSecret))
})

t.test('a key that is none throws at once, and nothing later', async (t) => {
  t.throws(() => agreeAhead(kem, new Uint8Array(7)))
  await sleep(10)
})
