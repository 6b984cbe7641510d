import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { hexPieces } from '../../../plugins/shared/hex-pieces.ts'
import { hashing } from '#aead'
import { checks } from '../../../plugins/sealed/wire/body.ts'
import { concat, order, padded, same, fromHex, readHex, toHex } from '../../../plugins/sealed/wire/bytes.ts'
import { unquoted } from '../../../plugins/readers/document/quoted-printable.ts'

/** In bytes: the longest audio that a sealed call takes. */
const size = 25 * 1024 * 1024
/** A loop may take so many times as long as the function of Node that does the same. */
const mostTimes = 40
const turns = 4

type Pair = readonly [ours: () => unknown, node: () => unknown]

const inPieces = (digits: Buffer): void => {
  const hex = hexPieces('file')
  for (let at = 0; at < digits.length; at += 65_536) hex.take(digits.subarray(at, at + 65_536))
  hex.end()
}

/** Each loop over the bytes of a long body, beside the function of Node that does the same. */
export const bytes = (): readonly string[] => {
  const some = randomBytes(size)
  const equal = Buffer.from(some)
  const hex = some.toString('hex')
  const digits = Buffer.from(hex)
  const coded = Buffer.from(`${'=D0=9F=D1=80=D0=B8  word =\r\n'.repeat(size / 28)}`)
  const unhex = () => Buffer.from(hex, 'hex')
  const pairs: Readonly<Record<string, Pair>> = {
    'bytes to hex': [() => toHex(some), () => some.toString('hex')],
    'hex to bytes': [() => fromHex(hex, size), unhex],
    'hex of either case to bytes': [() => readHex(hex, size), unhex],
    'hex to bytes, in pieces': [() => inPieces(digits), unhex],
    'checking the hex of a field': [() => checks.audio(hex), unhex],
    'comparing in constant time': [() => same(some, equal), () => timingSafeEqual(some, equal)],
    'ordering bytes': [() => order(some, equal), () => Buffer.compare(some, equal)],
    'joining bytes': [() => concat(some, equal), () => Buffer.concat([some, equal])],
    'padding bytes': [() => padded(some, 256), () => Buffer.concat([some, Buffer.alloc(256)])],
    'hashing bytes': [() => hashing().update(some), () => createHash('sha256').update(some)],
    'quoted-printable to bytes': [() => unquoted(coded), () => Buffer.from(coded.toString('latin1'), 'latin1')],
  }
  return Object.entries(pairs).map(([name, pair]) => {
    const [ours, node] = fastest(pair)
    const times = ours / node
    return `${name}, 25 MB: ${ours.toFixed(0)} ms, ${times.toFixed(1)} times Node's own (at most ${mostTimes}${times > mostTimes ? ', BEYOND' : ''})`
  })
}

/** Ms of the fastest turn of each, in turns. */
const fastest = (pair: Pair): readonly [number, number] => {
  const best: [number, number] = [Infinity, Infinity]
  for (let turn = 0; turn < turns; turn++)
    for (const at of [0, 1] as const) {
      const began = performance.now()
      pair[at]()
      best[at] = Math.min(best[at], performance.now() - began)
    }
  return best
}
