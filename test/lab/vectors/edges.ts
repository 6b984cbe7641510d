import {
  createCipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
} from 'node:crypto'
import { encapsulate, kems, publicKeyOf } from '../../../plugins/sealed/wire/kem.ts'

/**
 * Writes edges.json: what must hold, and what must be refused, at the edges of each primitive. What is expected comes
 * from the runtime's own library and from the standards' text, never from the code under test.
 */
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytes = (text: string) => Buffer.from(text, 'hex')
const counting = (length: number, from = 0) => Buffer.from(Array.from({ length }, (_, at) => (from + at * 7) & 255))
const drawn = (label: string, length: number) => createHash('shake256', { outputLength: length }).update(label).digest()

/** HChaCha20 as draft-irtf-cfrg-xchacha writes it, word by word. */
const hchacha = (key: Buffer, nonce: Buffer): Buffer => {
  const words = [0, 4, 8, 12].map((at) => Buffer.from('expand 32-byte k').readUInt32LE(at))
  for (let at = 0; at < 32; at += 4) words.push(key.readUInt32LE(at))
  for (let at = 0; at < 16; at += 4) words.push(nonce.readUInt32LE(at))
  const turn = (at: number, by: number) => (words[at] = ((words[at]! << by) | (words[at]! >>> (32 - by))) >>> 0)
  const add = (to: number, from: number) => (words[to] = (words[to]! + words[from]!) >>> 0)
  const mix = (to: number, from: number) => (words[to] = (words[to]! ^ words[from]!) >>> 0)
  const quarter = (a: number, b: number, c: number, d: number) => {
    for (const [one, two] of [
      [16, 12],
      [8, 7],
    ] as const) {
      add(a, b)
      mix(d, a)
      turn(d, one)
      add(c, d)
      mix(b, c)
      turn(b, two)
    }
  }
  for (let round = 0; round < 10; round++) {
    for (let at = 0; at < 4; at++) quarter(at, 4 + at, 8 + at, 12 + at)
    for (let at = 0; at < 4; at++) quarter(at, 4 + ((at + 1) % 4), 8 + ((at + 2) % 4), 12 + ((at + 3) % 4))
  }
  const out = Buffer.alloc(32)
  for (const [at, word] of [...words.slice(0, 4), ...words.slice(12)].entries()) out.writeUInt32LE(word, at * 4)
  return out
}

const sealed = (key: Buffer, nonce: Buffer, plain: Buffer, aad: Buffer): Buffer => {
  const rest = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)])
  const cipher = createCipheriv('chacha20-poly1305', hchacha(key, nonce), rest, { authTagLength: 16 })
  if (aad.length > 0) cipher.setAAD(aad, { plaintextLength: plain.length })
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([body, cipher.getAuthTag()])
}

const aead = () => {
  const valid = []
  const lengths = [
    0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 127, 128, 129, 191, 192, 255, 256, 257, 511, 512, 1024,
  ]
  for (const [at, length] of lengths.entries()) {
    for (const about of [0, [1, 15, 16, 17, 64, 500, 4096][at % 7]!]) {
      const [key, nonce] = [drawn(`key ${length}`, 32), drawn(`nonce ${length}`, 24)]
      const [plain, aad] = [counting(length, at), counting(about, 3)]
      valid.push({
        key: hex(key),
        nonce: hex(nonce),
        aad: hex(aad),
        plain: hex(plain),
        sealed: hex(sealed(key, nonce, plain, aad)),
      })
    }
  }
  for (const fill of [0, 255]) {
    const [key, nonce, plain] = [Buffer.alloc(32, fill), Buffer.alloc(24, fill), Buffer.alloc(64, fill)]
    valid.push({
      key: hex(key),
      nonce: hex(nonce),
      aad: '',
      plain: hex(plain),
      sealed: hex(sealed(key, nonce, plain, Buffer.alloc(0))),
    })
  }
  const [key, nonce, plain, aad] = [drawn('k', 32), drawn('n', 24), counting(65), counting(20)]
  const good = sealed(key, nonce, plain, aad)
  const base = { key: hex(key), nonce: hex(nonce), aad: hex(aad), sealed: hex(good) }
  const changed = (change: (bytes: Buffer) => void): string => {
    const copy = Buffer.from(good)
    change(copy)
    return hex(copy)
  }
  const tag = (change: (tag: Buffer) => void) => changed((bytes) => change(bytes.subarray(-16)))
  const invalid: { comment: string; key: string; nonce: string; aad: string; sealed: string }[] = [
    ...[0, 1, 7, 8, 31, 32, 33, 63, 64, 71, 77, 80, 96, 97, 120, 126, 127].map((bit) => ({
      ...base,
      comment: `bit ${bit} of the tag`,
      sealed: tag((tag) => (tag[bit >> 3]! ^= 1 << (bit & 7))),
    })),
    { ...base, comment: 'a tag of zeros', sealed: tag((tag) => tag.fill(0)) },
    { ...base, comment: 'a tag of ones', sealed: tag((tag) => tag.fill(255)) },
    { ...base, comment: 'every bit of the tag', sealed: tag((tag) => tag.forEach((byte, at) => (tag[at] = ~byte))) },
    {
      ...base,
      comment: 'the top bit of each byte',
      sealed: tag((tag) => tag.forEach((byte, at) => (tag[at] = byte ^ 128))),
    },
    { ...base, comment: 'a bit of the text', sealed: changed((bytes) => (bytes[40]! ^= 4)) },
    { ...base, comment: 'a tag cut by one', sealed: hex(good.subarray(0, -1)) },
    { ...base, comment: 'a tag of 12 bytes', sealed: hex(good.subarray(0, -4)) },
    { ...base, comment: 'no tag', sealed: hex(good.subarray(0, -16)) },
    { ...base, comment: 'half a tag alone', sealed: hex(good.subarray(-8)) },
    { ...base, comment: 'nothing', sealed: '' },
    { ...base, comment: 'a byte more', sealed: `${hex(good)}00` },
    { ...base, comment: 'a byte more in front', sealed: `00${hex(good)}` },
    { ...base, comment: 'no additional data', aad: '' },
    { ...base, comment: 'additional data with a zero more', aad: `${hex(aad)}00` },
    {
      ...base,
      comment: 'text moved into the additional data',
      aad: hex(Buffer.concat([aad, good.subarray(0, 1)])),
      sealed: hex(good.subarray(1)),
    },
    { ...base, comment: 'another nonce', nonce: hex(drawn('m', 24)) },
    {
      ...base,
      comment: 'another end of the nonce',
      nonce: hex(Buffer.concat([nonce.subarray(0, 23), Buffer.of(nonce[23]! ^ 1)])),
    },
    { ...base, comment: 'another key', key: hex(drawn('l', 32)) },
    { ...base, comment: 'a nonce of 12 bytes', nonce: hex(nonce.subarray(0, 12)) },
    { ...base, comment: 'a nonce of 25 bytes', nonce: `${hex(nonce)}00` },
    { ...base, comment: 'no nonce', nonce: '' },
    { ...base, comment: 'a key of 16 bytes', key: hex(key.subarray(0, 16)) },
    { ...base, comment: 'a key of 33 bytes', key: `${hex(key)}00` },
  ]
  return { valid, invalid }
}

const pkcs8 = (secret: Buffer) =>
  createPrivateKey({
    key: Buffer.concat([bytes('302e020100300506032b656e04220420'), secret]),
    format: 'der',
    type: 'pkcs8',
  })
const spki = (point: Buffer) =>
  createPublicKey({ key: Buffer.concat([bytes('302a300506032b656e032100'), point]), format: 'der', type: 'spki' })
const dh = (secret: Buffer, point: Buffer): Buffer =>
  diffieHellman({ privateKey: pkcs8(secret), publicKey: spki(point) })
const pointOf = (secret: Buffer): Buffer =>
  createPublicKey(pkcs8(secret) as unknown as Parameters<typeof createPublicKey>[0])
    .export({ format: 'der', type: 'spki' })
    .subarray(-32)

/** RFC 9180, 4.1, with the runtime's HMAC. */
const dhkem = (shared: Buffer, cipherText: Buffer, publicKey: Buffer): Buffer => {
  const suite = Buffer.concat([Buffer.from('HPKE-v1KEM'), bytes('0020')])
  const key = createHmac('sha256', Buffer.alloc(0)).update(suite).update('eae_prk').update(shared).digest()
  return createHmac('sha256', key)
    .update(bytes('0020'))
    .update(suite)
    .update('shared_secret')
    .update(cipherText)
    .update(publicKey)
    .update(Buffer.of(1))
    .digest()
}

const prime = (1n << 255n) - 19n
const little = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse()

/** Whether a coordinate lies on the twist: u³ + 486662 u² + u is no square. */
const twisted = (point: Buffer): boolean => {
  const u = BigInt(`0x${hex(Buffer.from(point).reverse())}`) & ((1n << 255n) - 1n)
  let [base, exponent, result] = [(((u * u + 486662n * u + 1n) % prime) * (u % prime)) % prime, (prime - 1n) / 2n, 1n]
  for (; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % prime
    base = (base * base) % prime
  }
  return result === prime - 1n
}

const x25519 = () => {
  const refused = [
    0n,
    1n,
    325606250916557431795983626356110631294008115727848805560023387167927233504n,
    39382357235489614581723060781553021112529911719440698176882885853963445705823n,
    prime - 1n,
    prime,
    prime + 1n,
  ].flatMap((u) => [little(u), little(u | (1n << 255n))])
  const valid: { comment: string; seed: string; cipherText: string; dh: string; shared_secret: string }[] = []
  const add = (comment: string, seed: Buffer, cipherText: Buffer) => {
    const shared = dh(seed, cipherText)
    const secret = dhkem(shared, cipherText, pointOf(seed))
    valid.push({ comment, seed: hex(seed), cipherText: hex(cipherText), dh: hex(shared), shared_secret: hex(secret) })
  }
  const seed = drawn('seed', 32)
  for (let at = 0, curve = 0, twist = 0; curve < 6 || twist < 6; at++) {
    const point = drawn(`point ${at}`, 32)
    const isTwist = twisted(point)
    if ((isTwist ? twist++ : curve++) >= 6) continue
    add(isTwist ? 'on the twist' : 'on the curve', drawn(`seed ${at}`, 32), point)
  }
  for (const u of [2n, 3n, 9n, 16n, prime - 2n, prime - 3n]) add('an edge of the field', seed, little(u))
  for (const more of [2n, 3n, 9n, 18n]) add('not reduced', seed, little(prime + more))
  for (const u of [9n, prime - 2n]) add('top bit set', seed, little(u | (1n << 255n)))
  for (const fill of [0, 255]) add('a scalar that clamping changes', Buffer.alloc(32, fill), little(9n))
  return {
    published: [
      {
        source: 'RFC 7748, 5.2',
        scalar: 'a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4',
        point: 'e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c',
        dh: 'c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552',
      },
      {
        source: 'RFC 7748, 5.2',
        scalar: '4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d',
        point: 'e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493',
        dh: '95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957',
      },
    ],
    valid,
    refused: refused.map(hex),
    refused_lengths: [0, 31, 33, 64].map((length) => hex(Buffer.alloc(length, 9))),
    seed: hex(seed),
  }
}

const sha3 = (name: string, ...parts: readonly Buffer[]) => createHash(name).update(Buffer.concat(parts)).digest()

/** Where a ciphertext is changed: the byte, and what is laid over it. */
const changes = [
  [0, 1],
  [0, 128],
  [1, 16],
  [319, 255],
  [320, 1],
  [543, 2],
  [959, 128],
  [960, 1],
  [1000, 4],
  [1087, 1],
  [1087, 128],
] as const

const changed = (cipherText: Uint8Array, at: number, by: number): Buffer => {
  const copy = Buffer.from(cipherText)
  copy[at]! ^= by
  return copy
}

const kemOf = (name: string) => kems.find((kem) => kem.name === name)!

/** FIPS 203, algorithm 18: a ciphertext that does not belong opens to J(z ‖ c). */
const mlKem = () => {
  const seed = drawn('ml-kem', 64)
  const made = encapsulate(kemOf('ml-kem-768'), publicKeyOf(kemOf('ml-kem-768'), seed), drawn('m', 32))
  const rejected = (cipherText: Buffer) =>
    hex(createHash('shake256', { outputLength: 32 }).update(seed.subarray(32)).update(cipherText).digest())
  return {
    seed: hex(seed),
    cipherText: hex(made.cipherText),
    shared_secret: hex(made.sharedSecret),
    changed: changes.map(([at, by]) => ({ at, by, shared_secret: rejected(changed(made.cipherText, at, by)) })),
    filled: [0, 255].map((fill) => ({ fill, shared_secret: rejected(Buffer.alloc(1088, fill)) })),
    refused_lengths: [0, 1, 32, 1087, 1089, 1120, 2176],
  }
}

/** The combiner of the draft, over what its two halves give. */
const xWing = () => {
  const seed = drawn('x-wing', 32)
  const kem = kemOf('x-wing')
  const expanded = createHash('shake256', { outputLength: 96 }).update(seed).digest()
  const [z, secret] = [expanded.subarray(32, 64), expanded.subarray(64)]
  const made = encapsulate(kem, publicKeyOf(kem, seed), drawn('e', 64))
  const combined = (inner: Buffer, point: Buffer) =>
    hex(sha3('sha3-256', inner, dh(secret, point), point, pointOf(secret), bytes('5c2e2f2f5e5c')))
  const rejected = (cipherText: Buffer) => {
    const inner = createHash('shake256', { outputLength: 32 }).update(z).update(cipherText.subarray(0, 1088)).digest()
    return combined(inner, cipherText.subarray(1088))
  }
  return {
    seed: hex(seed),
    cipherText: hex(made.cipherText),
    shared_secret: hex(made.sharedSecret),
    changed: changes.map(([at, by]) => ({ at, by, shared_secret: rejected(changed(made.cipherText, at, by)) })),
    refused_points: [0n, 1n, prime].map((u) => hex(little(u))),
    refused_lengths: [0, 32, 1088, 1119, 1121],
  }
}

const hkdf = () => ({
  published: [
    {
      source: 'RFC 5869, A.1',
      ikm: '0b'.repeat(22),
      salt: '000102030405060708090a0b0c',
      info: 'f0f1f2f3f4f5f6f7f8f9',
      okm: '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865',
    },
    {
      source: 'RFC 5869, A.3',
      ikm: '0b'.repeat(22),
      salt: '',
      info: '',
      okm: '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8',
    },
  ],
  lengths: [1, 31, 32, 33, 64, 255, 8160].map((length) => {
    const [ikm, salt, info] = [
      drawn(`ikm ${length}`, 1 + (length % 80)),
      drawn('salt', length % 100),
      drawn('info', length % 70),
    ]
    const okm = Buffer.from(hkdfSync('sha256', ikm, salt, info, length))
    return {
      ikm: hex(ikm),
      salt: hex(salt),
      info: hex(info),
      length,
      sha256: hex(createHash('sha256').update(okm).digest()),
    }
  }),
  refused_length: 8161,
  stream: Array.from({ length: 8 }, (_, at) => {
    const [secret, nonce] = [
      at === 0 ? Buffer.alloc(32) : drawn(`ss ${at}`, 32),
      at === 1 ? Buffer.alloc(24) : drawn(`n ${at}`, 24),
    ]
    return {
      secret: hex(secret),
      nonce: hex(nonce),
      key: hex(Buffer.from(hkdfSync('sha256', secret, nonce, 'rvenc/1 s2c/stream', 32))),
    }
  }),
})

const published = {
  source: 'draft-irtf-cfrg-xchacha-03, A.3.1',
  key: '808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f',
  nonce: '404142434445464748494a4b4c4d4e4f5051525354555657',
  aad: '50515253c0c1c2c3c4c5c6c7',
  text: "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
  sealed:
    'bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49',
}

process.stdout.write(
  `${JSON.stringify({ aead: { published, ...aead() }, x25519: x25519(), hkdf: hkdf(), mlKem: mlKem(), xWing: xWing() }, null, 1)}\n`,
)
