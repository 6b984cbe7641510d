import { textOf } from '../wire/bytes.ts'
import { demand, readable, refuse } from './reasons.ts'

/** A CBOR value: integers, bytes, texts, lists, null, and maps with texts or numbers as keys. */
export type Cbor = number | Uint8Array | string | null | readonly Cbor[] | ReadonlyMap<string | number, Cbor>

/** Bounds for hostile input: a document of Nitro nests three deep, and no list of it has 64 items. */
const mostDepth = 4
const mostItems = 64

const malformed = (): never => refuse('evidence_malformed', 'cbor')

/** The argument of an item in its shortest form, up to 2^53. */
const argumentOf = (short: number, take: (length: number) => Uint8Array): number => {
  if (short < 24) return short
  if (short > 27) return malformed()
  const size = 2 ** (short - 24)
  const value = take(size).reduce((sum, byte) => sum * 256 + byte, 0)
  const least = size === 1 ? 24 : 256 ** (size / 2)
  demand(value >= least && value <= Number.MAX_SAFE_INTEGER, 'evidence_malformed', 'cbor')
  return value
}

/** Reads one value with definite, minimal lengths and no trailing bytes. Throws `evidence_malformed`. */
export const readCbor = (bytes: Uint8Array): Cbor => {
  let at = 0

  /** A view of the next bytes. Throws when the bytes end earlier. */
  const take = (length: number): Uint8Array => {
    demand(at + length <= bytes.length, 'evidence_malformed', 'cbor')
    return bytes.subarray(at, (at += length))
  }

  const argument = (short: number): number => argumentOf(short, take)

  const count = (short: number): number => {
    const value = argument(short)
    return value <= mostItems ? value : malformed()
  }

  const mapOf = (short: number, depth: number): ReadonlyMap<string | number, Cbor> => {
    const map = new Map<string | number, Cbor>()
    for (let left = count(short); left > 0; left--) {
      const key = value(depth + 1)
      if ((typeof key !== 'string' && typeof key !== 'number') || map.has(key)) return malformed()
      map.set(key, value(depth + 1))
    }
    return map
  }

  const value = (depth: number): Cbor => {
    demand(depth <= mostDepth, 'evidence_malformed', 'cbor')
    const first = take(1)[0]!
    const [kind, short] = [first >> 5, first & 0x1f]
    switch (kind) {
      case 0:
        return argument(short)
      case 1:
        return -1 - argument(short)
      case 2:
        return take(argument(short))
      case 3: {
        const text = take(argument(short))
        return readable(() => textOf(text), 'cbor')
      }
      case 4:
        return Array.from({ length: count(short) }, () => value(depth + 1))
      case 5:
        return mapOf(short, depth)
      case 7:
        return first === 0xf6 ? null : malformed()
      default:
        return malformed()
    }
  }

  const whole = value(1)
  demand(at === bytes.length, 'evidence_malformed', 'cbor')
  return whole
}
