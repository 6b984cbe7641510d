import { createHash, createHmac, hkdfSync } from 'node:crypto'

/**
 * Writes bound.json: marks, bindings and key parts of sealed files, and what must be refused. Everything comes from the
 * runtime's own library and from the text of docs/wire.md, never from the code under test.
 */
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const drawn = (label: string, length: number) => createHash('shake256', { outputLength: length }).update(label).digest()
const sha256 = (...parts: readonly Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const keyOf = (kek: Buffer, label: string) => Buffer.from(hkdfSync('sha256', kek, '', label, 32))
const hmac = (key: Buffer, ...parts: readonly Buffer[]) =>
  createHmac('sha256', key).update(Buffer.concat(parts)).digest()
const u16 = (value: number) => Buffer.from([value >> 8, value & 255])
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const u64 = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

const kek = drawn('kek', 32)

const uuidOf = (bytes: Buffer) =>
  hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, (_, ...match) => match.slice(0, 5).join('-'))

const marks = () => {
  const of = (now: number, random: Buffer) => {
    const head = Buffer.concat([u64(now).subarray(2), random])
    head[6] = 0x70 | (head[6]! & 0x0f)
    head[8] = 0x80 | (head[8]! & 0x3f)
    const mark = hmac(keyOf(kek, 'rvenc/file-mark'), head).subarray(0, 4)
    return { now, random: hex(random), id: `file_${uuidOf(Buffer.concat([head, mark]))}` }
  }
  const valid = [of(1_700_000_000_000, drawn('mark', 6)), of(0, Buffer.alloc(6)), of(2 ** 48 - 1, Buffer.alloc(6, 255))]
  const { id } = valid[0]!
  const flip = (at: number) => `${id.slice(0, at)}${id[at] === '0' ? '1' : '0'}${id.slice(at + 1)}`
  const not = [
    flip(id.length - 1),
    flip(5),
    flip(22),
    id.slice(5),
    `${id}0`,
    id.toUpperCase(),
    id.replace('-7', '-4'),
    '',
  ]
  return { kek: hex(kek), valid, not_marked: not, not_marked_under: hex(drawn('another kek', 32)) }
}

const keys = () => {
  const sign = (random: Buffer) => sha256(Buffer.from('rvenc/bound-key/1\0'), random).subarray(0, 4)
  const valid = [drawn('dek', 28), Buffer.alloc(28), Buffer.alloc(28, 255)].map((random) => ({
    random: hex(random),
    key: hex(Buffer.concat([random, sign(random)])),
  }))
  const key = Buffer.from(valid[0]!.key, 'hex')
  const changed = (at: number) => {
    const copy = Buffer.from(key)
    copy[at]! ^= 1
    return hex(copy)
  }
  return { valid, not_bound: [changed(0), changed(27), changed(28), changed(31), hex(drawn('free', 32))] }
}

interface Facts {
  readonly id: string
  readonly version: string
  readonly size: number
  readonly kid: string
  readonly wrapped_dek: string
}

const bindings = () => {
  const tagged = (facts: Facts, revision: number, hash: Buffer, clientHash: Buffer) => {
    const [id, version, kid] = [Buffer.from(facts.id), Buffer.from(facts.version), Buffer.from(facts.kid)]
    const parts = [
      id,
      version,
      u64(facts.size),
      hash,
      clientHash,
      kid,
      Buffer.from(facts.wrapped_dek, 'hex'),
      u32(revision),
    ]
    const message = parts.flatMap((part) => [u16(part.length), part])
    const tag = hmac(keyOf(kek, 'rvenc/file-bind'), Buffer.from('rvenc/bind/1\0'), ...message)
    return hex(Buffer.concat([Buffer.of(1), u32(revision), hash, clientHash, tag]))
  }
  const facts: Facts = {
    id: marks().valid[0]!.id,
    version: '2',
    size: 3_000_456,
    kid: hex(Buffer.from(hkdfSync('sha256', kek, '', 'rvenc/kek-id', 16))),
    wrapped_dek: hex(drawn('wrapped', 40)),
  }
  const [hash, clientHash, none] = [drawn('hash', 32), drawn('client hash', 32), Buffer.alloc(32)]
  const valid = [
    { ...facts, revision: 1, hash: hex(hash), client_hash: hex(clientHash) as string | null },
    { ...facts, version: '1', size: 0, revision: 2 ** 32 - 1, hash: hex(hash), client_hash: null },
    { ...facts, id: 'file_ü', size: 2 ** 53 - 1, revision: 0, hash: hex(none), client_hash: hex(clientHash) },
  ].map((vector) => ({
    ...vector,
    binding: tagged(vector, vector.revision, Buffer.from(vector.hash, 'hex'), vector.client_hash ? clientHash : none),
  }))
  const first = valid[0]!
  const changed = (at: number) => {
    const bytes = Buffer.from(first.binding, 'hex')
    bytes[at]! ^= 1
    return hex(bytes)
  }
  const refused = [
    ...[0, 4, 5, 36, 37, 68, 69, 100].map((at) => ({ ...first, comment: `a bit of byte ${at}`, binding: changed(at) })),
    { ...first, comment: 'a byte less', binding: first.binding.slice(2) },
    { ...first, comment: 'a byte more', binding: `${first.binding}00` },
    { ...first, comment: 'nothing', binding: '' },
    { ...first, comment: 'another id', id: marks().valid[1]!.id },
    { ...first, comment: 'another version', version: '1' },
    { ...first, comment: 'another size', size: first.size + 1 },
    { ...first, comment: 'another KEK by name', kid: '0'.repeat(32) },
    { ...first, comment: 'another wrapped key', wrapped_dek: hex(drawn('other', 40)) },
    {
      ...first,
      comment: 'the end of the id in the version',
      id: first.id.slice(0, -1),
      version: `${first.id.at(-1)}2`,
    },
  ]
  return { kek: hex(kek), valid, refused, refused_under: hex(drawn('another kek', 32)) }
}

const parts = () => {
  const [key, id, hash, size] = [drawn('dek', 32), Buffer.from(marks().valid[0]!.id), drawn('hash', 32), 3_000_456]
  const long = Buffer.concat([key, id, Buffer.of(0), u64(size), hash])
  return {
    valid: [
      { part: hex(key), key: hex(key), id: '', stored: null },
      { part: hex(Buffer.concat([key, id])), key: hex(key), id: String(id), stored: null },
      { part: hex(long), key: hex(key), id: String(id), stored: { size, hash: hex(hash) } },
    ],
    refused: [
      hex(key.subarray(1)),
      hex(long.subarray(0, -1)),
      `${hex(long)}00`,
      hex(Buffer.concat([key, id, Buffer.of(0)])),
      hex(Buffer.concat([key, Buffer.of(0), u64(size), hash])),
    ],
  }
}

process.stdout.write(
  `${JSON.stringify({ marks: marks(), keys: keys(), bindings: bindings(), parts: parts() }, null, 1)}\n`,
)
