import { hashing as chosen } from '#aead'
import t from 'tap'
import { toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { hashing as native } from '../../../../plugins/sealed/wire/aead.node.ts'
import { hashing as portable } from '../../../../plugins/sealed/wire/aead.ts'

/** The examples of FIPS 180-4. */
const examples = {
  '': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  abc: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq:
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
}

t.test('both forms of SHA-256 give the digests of the standard, however the bytes come', (t) => {
  for (const [name, hashing] of Object.entries({ native, portable, chosen }))
    for (const [text, digest] of Object.entries(examples))
      for (const size of [1, 7, 64, 1_000]) {
        const hash = hashing()
        for (let at = 0; at < text.length; at += size) hash.update(Buffer.from(text.slice(at, at + size)))
        t.equal(toHex(hash.digest()), digest, `${name}: ${size} bytes at once`)
      }
  t.equal(chosen, native, 'Node has its own')
  t.end()
})
