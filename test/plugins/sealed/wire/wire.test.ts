import { createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { aead as portable } from '../../../../plugins/sealed/wire/aead.ts'
import { aead as native } from '../../../../plugins/sealed/wire/aead.node.ts'
import { concat, padded, textOf, utf8, fromHex, toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import {
  openContent,
  openLabel,
  openWhole,
  sealContent,
  sealLabel,
  sealWhole,
  sealedLength,
  unwrapKey,
  wrapKey,
} from '../../../../plugins/sealed/wire/file.ts'
import { bucket, flags, frameOpener, frameSealer } from '../../../../plugins/sealed/wire/frames.ts'
import { encapsulate, kemOf, kems, opener, publicKeyOf } from '../../../../plugins/sealed/wire/kem.ts'
import { enclaveKid, parseKeyset, printKeyset, reportData } from '../../../../plugins/sealed/wire/keyset.ts'
import { clientHash, kekId, ragWrapKey, streamKey } from '../../../../plugins/sealed/wire/schedule.ts'
import { open, openJson, seal } from '../../../../plugins/sealed/wire/seal.ts'

const vectors = JSON.parse(await readFile('test/vectors/wire.json', 'utf8'))
const hex = (text: string): Uint8Array => fromHex(text, 1 << 24)!
const counting = (from: number, length: number) => Uint8Array.from({ length }, (_, at) => (from + at) & 255)
const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const whole = async (parts: AsyncIterable<Uint8Array>) => {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return concat(...all)
}
async function* inPieces(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

t.test('the vectors', async (t) => {
  const nonce = hex(vectors.nonce)
  const prefix = hex(vectors.stream_prefix)
  for (const vector of vectors.cases) {
    t.test(vector.kem, async (t) => {
      const kem = kems.find(({ id }) => id === vector.kem_id)!
      const publicKey = publicKeyOf(kem, hex(vector.seed))
      t.equal(toHex(publicKey), vector.public_key, 'public key')
      t.equal(enclaveKid({ kem: kem.id, publicKey }), vector.enclaveKid, 'kid')
      const made = encapsulate(kem, publicKey, hex(vector.encap_randomness))
      t.equal(toHex(made.cipherText), vector.cipherText, 'ciphertext')
      t.equal(kemOf(made.cipherText.length), kem, 'told by its length')
      t.equal(toHex(made.sharedSecret), vector.shared_secret, 'shared secret')
      const secret = opener(kem, hex(vector.seed))(hex(vector.cipherText))
      t.equal(toHex(secret), vector.shared_secret, 'opened')
      t.equal(toHex(seal(secret, nonce, utf8(vector.request_plaintext))), vector.encryptedInference, 'sealed request')
      t.same(
        openJson(secret, nonce, hex(vector.encryptedInference)),
        JSON.parse(vector.request_plaintext),
        'opened request',
      )
      const key = streamKey(secret, nonce)
      t.equal(toHex(key), vector.stream_key, 'stream key')
      const sealer = frameSealer(key, prefix, 256)
      const last = vector.chunks_plain.length - 1
      const frames = vector.chunks_plain.map((plain: string, at: number) =>
        toHex(sealer(utf8(plain), at === last ? flags.final : flags.data)),
      )
      t.same(frames, vector.padded_chunks, 'frames')
      for (const kind of ['chunks', 'padded_chunks']) {
        const opened = frameOpener(key)
        t.same(
          vector[kind].map((frame: string) => textOf(opened(hex(frame))!.plain).trimEnd()),
          vector.chunks_plain,
          `readers take ${kind}`,
        )
      }
    })
  }
  const { keyset, file, more } = vectors
  t.test('keyset', async (t) => {
    const body = parseKeyset(hex(keyset.bytes))!
    t.equal(body.epoch, keyset.epoch)
    t.equal(toHex(printKeyset(body)), keyset.bytes)
    t.equal(toHex(reportData(hex(keyset.bytes), hex(keyset.challenge))), keyset.report_data)
    const two = parseKeyset(hex(more.keyset_two_epochs.bytes))!
    t.same(two.keys.map(enclaveKid), more.keyset_two_epochs.kids)
    t.same(
      two.keys.map(({ notBefore }) => notBefore),
      more.keyset_two_epochs.nbf,
    )
    t.equal(toHex(printKeyset({ ...two, keys: [...two.keys].reverse() })), more.keyset_two_epochs.bytes, 'one order')
    t.equal(parseKeyset(hex(more.keyset_trailing_byte_must_be_refused)), null)
    const [key] = body.keys
    t.equal(parseKeyset(printKeyset({ ...body, keys: [key!, key!] })), null, 'no key stands twice')
    const known = { ...key!, kem: 0x20 }
    t.equal(parseKeyset(printKeyset({ ...body, keys: [{ ...known, publicKey: new Uint8Array(33) }] })), null)
    t.ok(parseKeyset(printKeyset({ ...body, keys: [{ ...known, kem: 9 }] })), 'a kind that nobody knows yet is kept')
    const [one, other] = [...two.keys].slice(0, 2).map((key) => printKeyset({ ...two, keys: [key] }).subarray(56))
    const head = printKeyset({ ...two, keys: two.keys.slice(0, 2) }).subarray(0, 56)
    t.ok(parseKeyset(concat(head, one!, other!)))
    t.equal(parseKeyset(concat(head, other!, one!)), null, 'keys have one order')
    const bytes = hex(more.keyset_two_epochs.bytes)
    t.equal(parseKeyset(concat(utf8('rvenc-keyset/2\0'), bytes.subarray(15))), null, 'a keyset has its name')
    for (let at = 0; at < bytes.length; at++) t.equal(parseKeyset(bytes.subarray(0, at)), null) || t.comment(at)
  })
  t.test('files', async (t) => {
    const [kek, dek, fileNonce] = [hex(file.kek), hex(file.dek), hex(file.nonce)]
    t.equal(toHex(kekId(kek)), file.kid)
    t.equal(toHex(wrapKey(kek, dek)), file.wrapped_dek)
    t.equal(toHex(unwrapKey(kek, hex(file.wrapped_dek))!), file.dek)
    for (const bad of Object.values<string>(more.kwp_must_be_refused)) t.equal(unwrapKey(kek, hex(bad)), null)
    t.equal(toHex(sealLabel(dek, 'name', file.name, fileNonce)), file.encrypted_name)
    t.equal(openLabel(dek, 'name', hex(file.encrypted_name)), file.name)
    t.equal(toHex(sealLabel(dek, 'mime', more.mime.mime, hex(more.mime.nonce))), more.mime.encrypted)
    for (const edge of more.name_edges)
      t.equal(toHex(sealLabel(dek, 'name', edge.name, hex(edge.nonce))), edge.encrypted)
    t.equal(toHex(sealWhole(dek, utf8(file.v1_plaintext), fileNonce)), file.v1_content)
    t.equal(textOf(openWhole(dek, hex(file.v1_content))!), file.v1_plaintext)
    t.equal(
      toHex(ragWrapKey(kek).length === 32 ? wrapKey(ragWrapKey(kek), hex(more.rag_dek.rag_dek)) : utf8('')),
      more.rag_dek.wrapped_rag_dek,
    )
    t.equal(toHex(clientHash(kek, createHash('sha256').update(file.v1_plaintext).digest())), file.client_hash)
    const v2 = await whole(sealContent(dek, inPieces(counting(3, 65546), 1000), fileNonce.subarray(0, 19)))
    t.equal(v2.length, file.v2_content_length)
    t.equal(sha(v2), file.v2_content_sha256)
    for (const edge of more.v2_edges.cases) {
      const plain = counting(3, edge.plaintext_length)
      const sealed = await whole(sealContent(dek, inPieces(plain, 30_000), hex(more.v2_edges.prefix)))
      t.equal(sealed.length, edge.content_length)
      t.equal(sealed.length, sealedLength(plain.length))
      t.equal(sha(sealed), edge.sha256, `${plain.length} bytes`)
      t.same(await whole(openContent(dek, inPieces(sealed, 7777))), plain)
    }
  })
  t.test('answers, errors and low points', async (t) => {
    const first = vectors.cases.find((vector: { kem: string }) => vector.kem === 'X-Wing')
    const secret = hex(first.shared_secret)
    const { json_answer, reflected_answer_must_be_refused, error_frame, padding_edges, sealed_deks } = more
    t.same(
      openJson(secret, hex(json_answer.nonce), hex(json_answer.encryptedResponse)),
      JSON.parse(json_answer.plaintext),
    )
    t.equal(reflected_answer_must_be_refused.nonce, vectors.nonce, 'a client sees that the nonce is its own')
    const key = streamKey(secret, nonce)
    const sealer = frameSealer(key, prefix, 256)
    sealer(utf8('0'))
    sealer(utf8('1'))
    t.equal(toHex(sealer(utf8(error_frame.plaintext), flags.error)), error_frame.frame)
    for (const edge of padding_edges) {
      const frame = frameSealer(key, prefix, 256)(new Uint8Array(edge.plaintext_length).fill(0x61))
      t.equal(frame.length, edge.frame_length)
    }
    for (const [dek, at] of [
      ['encrypted_file_dek', 'file_nonce'],
      ['encrypted_rag_dek', 'rag_dek_nonce'],
    ] as const) {
      t.equal(
        toHex(open(secret, hex(sealed_deks[at]), hex(sealed_deks[dek]))!),
        dek === 'encrypted_rag_dek' ? sealed_deks.rag_dek : file.dek,
      )
    }
    const dh = kems.find(({ name }) => name === 'x25519')!
    const seed = hex(vectors.cases[0].seed)
    for (const point of more.x25519_low_order_must_be_refused) t.throws(() => opener(dh, seed)(hex(point)))
    t.equal(toHex(opener(dh, seed)(hex(more.x25519_top_bit.cipherText))), more.x25519_top_bit.shared_secret)
    t.not(toHex(publicKeyOf(dh, seed)), more.rfc9180_derive_key_pair_is_not_used.would_be_public_key)
  })
})

t.test('native and portable are the same bytes', async (t) => {
  for (const length of [0, 1, 15, 16, 17, 63, 64, 65, 1000, 100_000]) {
    const [key, nonce, plain] = [counting(length, 32), counting(1, 24), counting(7, length)]
    for (const aad of [undefined, utf8('about')]) {
      const sealed = native.seal(key, nonce, plain, aad)
      t.same(sealed, portable.seal(key, nonce, plain, aad), `${length}`)
      t.same(native.open(key, nonce, sealed, aad), plain)
      sealed[length >> 1]! ^= 1
      t.throws(() => native.open(key, nonce, sealed, aad))
      t.throws(() => portable.open(key, nonce, sealed, aad))
    }
  }
  for (const bad of [
    [31, 24],
    [32, 23],
  ] as const)
    t.throws(() => native.seal(counting(0, bad[0]), counting(0, bad[1]), utf8('')))
  t.throws(() => native.open(counting(0, 32), counting(0, 24), counting(0, 15)))
  const x = createHmac('sha256', 'k').update('x').digest()
  t.same(kekId(x), new Uint8Array(hkdfSync('sha256', x, '', 'rvenc/kek-id', 16)), 'our key schedule is the runtime’s')
})

t.test('a changed stream does not open', async (t) => {
  const key = counting(9, 32)
  const sealer = frameSealer(key)
  const frames = [sealer(utf8('{"a":1}')), sealer(utf8('{"b":2}')), sealer(utf8('{"c":3}'), flags.final)] as const
  const outcome = (sent: readonly Uint8Array[]) => {
    const opened = frameOpener(key)
    const seen = sent.map((frame) => opened(frame))
    return {
      refused: seen.some((value) => value === null),
      complete: seen.some((value) => value?.flag === flags.final),
    }
  }
  t.same(outcome(frames), { refused: false, complete: true })
  const [a, b, c] = frames
  const foreign = frameSealer(key)(utf8('{"x":1}'))
  const tampered = {
    drop: [a, c],
    duplicate: [a, a, b, c],
    reorder: [b, a, c],
    after: [a, b, c, b],
    foreign: [a, foreign, c],
    swapped: [foreign, b, c],
  }
  for (const [name, sent] of Object.entries(tampered)) t.ok(outcome(sent).refused, name)
  t.same(outcome([a, b]), { refused: false, complete: false }, 'a cut stream is never complete')
  for (let bit = 0; bit < a.length * 8; bit++) {
    const flipped = a.slice()
    flipped[bit >> 3]! ^= 1 << (bit & 7)
    const first = frameOpener(key)
    const seen = first(flipped)
    // A flipped prefix makes another nonce, which the tag notices; a flipped counter or flag is out of order.
    if (seen !== null) t.fail(`bit ${bit}`)
  }
  t.throws(() => sealer(utf8('more')), 'nothing follows the last frame')
  for (const end of [flags.final, flags.error]) {
    const prefix = counting(3, 19)
    const [ending, going] = [frameSealer(key, prefix), frameSealer(key, prefix)]
    const reader = frameOpener(key)
    t.equal(reader(ending(utf8('{}'), end))?.flag, end)
    going(utf8('{}'))
    t.equal(reader(going(utf8('{}'))), null, 'a frame behind the last one opens for nobody, though its owner sealed it')
  }
  const [, second, third] = frames
  for (const [what, bad] of Object.entries({
    flipped: second.map((byte, at) => (at === 30 ? byte ^ 1 : byte)),
    short: second.subarray(0, 39),
    'of no kind': second.map((byte, at) => (at === 23 ? 3 : byte)),
  })) {
    const reader = frameOpener(key)
    t.ok(reader(a))
    t.equal(reader(bad), null, what)
    t.same([reader(second), reader(third)], [null, null], `${what}: nothing opens behind a bad frame`)
    const other = frameOpener(key)
    t.same([other(a)?.flag, other(bad), other(third)], [flags.data, null, null], `${what}: nor does the next in order`)
  }
  t.equal(frameOpener(key)(frameSealer(key)(new Uint8Array(1024 * 1024))), null, 'nor does a large one that is sealed')
  const strict = frameOpener(key)
  t.equal(strict(new Uint8Array(2 * 1024 * 1024)), null)
  t.equal(strict(a), null, 'nor behind a frame that is too large')
  const broken = frameSealer(key)
  const last = broken(utf8('{"error":1}'), flags.error)
  t.equal(frameOpener(key)(last)?.flag, flags.error)
  t.throws(() => broken(utf8('more')), 'nor behind an error')
  t.equal(a.length % bucket, 40, 'padded')
  t.equal(frameOpener(key)(new Uint8Array(2 * 1024 * 1024)), null, 'too large')
})

t.test('changed contents do not open', async (t) => {
  const dek = counting(1, 32)
  const sealed = await whole(sealContent(dek, inPieces(counting(0, 140_000), 50_000)))
  const bad = {
    cut: sealed.subarray(0, -1),
    'cut at a chunk': sealed.subarray(0, 24 + 65552),
    longer: concat(sealed, utf8('x')),
    'no chunk': sealed.subarray(0, 24),
    nothing: utf8(''),
    'other zero bytes': sealed.map((byte, at) => (at === 20 ? 1 : byte)),
    flipped: sealed.map((byte, at) => (at === 70_000 ? byte ^ 1 : byte)),
  }
  for (const [name, content] of Object.entries(bad))
    await t.rejects(whole(openContent(dek, inPieces(content, 4000))), name)
  t.equal(openWhole(dek, sealed), null)
  t.equal(openLabel(dek, 'mime', sealLabel(dek, 'name', 'x')), null)
})

t.test('hex is strict', async (t) => {
  t.same(fromHex('00ff10', 3), Uint8Array.of(0, 255, 16))
  for (const bad of ['0', '0g', 'AB', '0x', ' 00', '00\n', 'éé', '00000000', '\u{1F600}'])
    t.equal(fromHex(bad, 3), null, bad)
  const every = counting(0, 9000)
  t.same(fromHex(toHex(every), 9000), every)
  t.same(padded(utf8('abcd'), 4), utf8('abcd'), 'an exact multiple gets no padding')
  t.equal(padded(utf8(''), 32, 32).length, 32)
})

t.test('the digits of 25 MB are those of Node, and cost no object a byte', async (t) => {
  const every = randomBytes(25 * 1024 * 1024)
  const before = process.memoryUsage().heapUsed
  const digits = toHex(every)
  const grown = process.memoryUsage().heapUsed - before
  t.equal(digits.length, every.length * 2)
  t.ok(digits === every.toString('hex'), 'the same text')
  t.ok(grown < 8 * every.length, `${Math.round(grown / 1e6)} MB for ${Math.round(digits.length / 1e6)} MB of text`)
  for (const length of [0, 1, 64 * 1024, 64 * 1024 + 1]) {
    const some = every.subarray(5, 5 + length)
    t.ok(toHex(some) === some.toString('hex'), `${length} bytes from an odd place`)
  }
})
