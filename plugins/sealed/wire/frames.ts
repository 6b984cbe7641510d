import { randomBytes } from '@noble/hashes/utils.js'
import { concat, padded, same } from './bytes.ts'
import { open, seal } from './seal.ts'

/** The kind of a frame: one of many, the last of a complete answer, or the last of a broken answer. */
export const flags = { data: 0, final: 1, error: 2 } as const
export type Flag = (typeof flags)[keyof typeof flags]

/** In bytes: a frame's plaintext is padded to a multiple of this, so that no length of a token shows. */
export const bucket = 512
const prefixLength = 19
/** In bytes: a longer frame is refused before it is opened. */
const mostBytes = 1024 * 1024

const nonceOf = (prefix: Uint8Array, index: number, flag: number): Uint8Array =>
  concat(prefix, Uint8Array.of(index >>> 24, index >>> 16, index >>> 8, index, flag))

/** Seals the frames of one response. Each response has a new prefix, since a replayed request gets another answer. */
export const frameSealer = (key: Uint8Array, prefix: Uint8Array = randomBytes(prefixLength), pad = bucket) => {
  let index = 0
  let ended = false
  return (plain: Uint8Array, flag: Flag = flags.data): Uint8Array => {
    if (ended || index > 0xffffffff) throw new Error('Nothing follows the last frame')
    ended = flag !== flags.data
    const nonce = nonceOf(prefix, index++, flag)
    return concat(nonce, seal(key, nonce, padded(plain, pad)))
  }
}

/** An opened frame. The padding, spaces, is still in its plaintext. */
export interface Frame {
  readonly flag: Flag
  readonly plain: Uint8Array
}

/** Opens the frames of one response in order. Null for a frame out of place; after null no frame opens. */
export const frameOpener = (key: Uint8Array) => {
  let prefix: Uint8Array | null = null
  let index = 0
  let ended = false
  return (frame: Uint8Array): Frame | null => {
    const flag = frame[23]
    if (ended || frame.length < 24 + 16 || frame.length > mostBytes || flag === undefined || flag > flags.error) {
      ended = true
      return null
    }
    prefix ??= frame.slice(0, prefixLength)
    const nonce = nonceOf(prefix, index++, flag)
    const plain = same(nonce, frame.subarray(0, 24)) ? open(key, nonce, frame.subarray(24)) : null
    ended = plain === null || flag !== flags.data
    return plain === null ? null : { flag: flag as Flag, plain }
  }
}
