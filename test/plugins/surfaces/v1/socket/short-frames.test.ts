import fc from 'fast-check'
import t from 'tap'
import { frameCutter, pieceBytes } from '../../../../../plugins/surfaces/v1/socket/short-frames.ts'
import { seed } from '../../../../whole.ts'

interface Frame {
  /** The last one's bit and the opcode. */
  readonly first: number
  readonly mask: Buffer | null
  /** As it stands on the wire. */
  readonly payload: Buffer
}

const written = ({ first, mask, payload }: Frame): Buffer => {
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = first
  head[1] = (mask === null ? 0 : 0x80) | (head.length === 2 ? length : head.length === 4 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, ...(mask === null ? [] : [mask]), payload])
}

const readAll = (bytes: Buffer): Frame[] => {
  const frames: Frame[] = []
  for (let at = 0; at < bytes.length;) {
    const [first, second] = [bytes[at]!, bytes[at + 1]!]
    const short = second & 0x7f
    at += 2
    const size = short === 126 ? bytes.readUInt16BE(at) : short === 127 ? Number(bytes.readBigUInt64BE(at)) : short
    at += short === 126 ? 2 : short === 127 ? 8 : 0
    const mask = second & 0x80 ? bytes.subarray(at, at + 4) : null
    at += mask === null ? 0 : 4
    frames.push({ first, mask, payload: bytes.subarray(at, at + size) })
    at += size
  }
  return frames
}

const cutBy = (most: number, parts: readonly Buffer[], begun: (bytes: number) => void = () => {}): Buffer => {
  const cut = frameCutter(most, begun)
  return Buffer.concat(parts.flatMap((part) => [...cut(part)]))
}

const partsOf = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))

/** Frames of one message as one: what a reader makes of them. */
const joined = (frames: readonly Frame[]): Frame[] => {
  const whole: Frame[] = []
  let isBegun = false
  for (const frame of frames) {
    const isData = (frame.first & 0xf) <= 2
    const at = isData && isBegun ? whole.findLastIndex(({ first }) => (first & 0xf) <= 2) : whole.length
    const { first, payload } = whole[at] ?? { first: frame.first, payload: Buffer.alloc(0) }
    const more = Buffer.concat([payload, frame.payload])
    whole[at] = { first: first | (frame.first & 0x80), mask: frame.mask, payload: more }
    if (isData) isBegun = (frame.first & 0x80) === 0
  }
  return whole
}

const bytesOf = (length: number): Buffer =>
  Buffer.alloc(length, Buffer.from(Array.from({ length: 251 }, (_, at) => at)))
const mask = Buffer.from([1, 2, 3, 4])
const most = 1024 * 1024

t.test('a long frame becomes frames of one message, each of a piece at most', (t) => {
  const payload = bytesOf(3 * pieceBytes + 5)
  const frames = readAll(cutBy(most, [written({ first: 0x81, mask, payload })]))
  t.same(
    frames.map(({ first, payload }) => [first, payload.length]),
    [
      [0x01, pieceBytes],
      [0x00, pieceBytes],
      [0x00, pieceBytes],
      [0x80, 5],
    ],
  )
  t.ok(frames.every((frame) => frame.mask?.equals(mask)))
  t.ok(Buffer.concat(frames.map((frame) => frame.payload)).equals(payload))
  const open = readAll(cutBy(most, [written({ first: 0x02, mask, payload: bytesOf(2 * pieceBytes) })]))
  t.same(
    open.map(({ first }) => first),
    [0x02, 0x00],
    'a frame that others follow ends no message',
  )
  t.end()
})

t.test('the bytes of frames of data are told before they come', (t) => {
  const told: number[] = []
  const [text, ping] = [0x81, 0x89].map((first) => written({ first, mask, payload: bytesOf(100) }))
  const long = written({ first: 0x81, mask, payload: bytesOf(pieceBytes + 1) })
  cutBy(most, [text!, ping!, long.subarray(0, 20)], (bytes) => told.push(bytes))
  t.same(told, [100, pieceBytes + 1])
  cutBy(pieceBytes, [long], (bytes) => told.push(bytes))
  t.equal(told.length, 2, 'a frame that is refused has none')
  t.end()
})

t.test('frames that a reader refuses or that are short pass as they came', (t) => {
  const long = bytesOf(pieceBytes + 1)
  const cases: Readonly<Record<string, Buffer>> = {
    'a piece': written({ first: 0x81, mask, payload: bytesOf(pieceBytes) }),
    'an empty frame': written({ first: 0x81, mask, payload: bytesOf(0) }),
    'a ping': written({ first: 0x89, mask, payload: bytesOf(125) }),
    'a ping of too many bytes': written({ first: 0x89, mask, payload: long }),
    'a frame without a mask': written({ first: 0x81, mask: null, payload: long }),
  }
  for (const [name, bytes] of Object.entries(cases)) t.ok(cutBy(most, [bytes]).equals(bytes), name)
  const huge = written({ first: 0x81, mask, payload: long })
  t.ok(cutBy(pieceBytes, [huge]).equals(huge), 'a frame beyond the bound')
  const endless = Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 6])
  t.ok(cutBy(most, [endless]).equals(endless), 'a frame of 2^64 bytes')
  t.end()
})

t.test('messages stay the same, however their bytes come', (t) => {
  const frame = fc.record({
    opcode: fc.constantFrom(0, 1, 2, 8, 9, 10),
    isLast: fc.boolean(),
    isMasked: fc.integer({ min: 0, max: 9 }).map((at) => at > 0),
    length: fc.oneof(
      fc.integer({ min: 0, max: 130 }),
      fc.integer({ min: pieceBytes - 2, max: pieceBytes + 2 }),
      fc.integer({ min: 0, max: 3 * pieceBytes + 9 }),
    ),
  })
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 99_999 }), (given, size) => {
      const frames = given.map(({ opcode, isLast, isMasked, length }) => ({
        first: (isLast || opcode > 2 ? 0x80 : 0) | opcode,
        mask: isMasked ? mask : null,
        payload: bytesOf(opcode > 2 ? length % 126 : length),
      }))
      const bytes = Buffer.concat(frames.map(written))
      const cut = readAll(cutBy(most, partsOf(bytes, size)))
      const isShort = cut.every(({ mask, payload }) => mask === null || payload.length <= pieceBytes)
      return isShort && JSON.stringify(joined(cut)) === JSON.stringify(joined(frames))
    }),
    { seed, numRuns: 100 },
  )
  const bytes = written({ first: 0x81, mask, payload: bytesOf(pieceBytes + 9) })
  t.ok(cutBy(most, partsOf(bytes, 1)).equals(cutBy(most, [bytes])), 'byte by byte')
  t.end()
})
