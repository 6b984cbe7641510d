import { crc32 } from 'node:zlib'
import { unzip } from '../../../plugins/shared/zip.ts'
import { zipOf } from '../../fakes/zip.ts'

/** Whole numbers from 0 up to a bound, the same ones for the same seed. */
export type Chance = (below: number) => number

export const chance = (seed: number): Chance => {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

type Damage = (bytes: Buffer, chance: Chance) => Uint8Array

/** Half of them have one wrong bit, so that a parser comes far before it meets the damage. */
const flipped: Damage = (bytes, chance) => {
  const damaged = Buffer.from(bytes)
  for (let times = 1 + chance([1, 30][chance(2)]!); times > 0; times--)
    damaged[chance(damaged.length)]! ^= 1 << chance(8)
  return damaged
}

const cut: Damage = (bytes, chance) => bytes.subarray(0, chance(bytes.length))

const holed: Damage = (bytes, chance) => {
  const at = chance(bytes.length)
  return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(1 + chance(4_000)), bytes.subarray(at)])
}

/** A part of it comes again and again. */
const repeated: Damage = (bytes, chance) => {
  const from = chance(bytes.length)
  const part = bytes.subarray(from, from + 1 + chance(2_000))
  return Buffer.concat([bytes.subarray(0, from), ...Array<Buffer>(1 + chance(500)).fill(part), bytes.subarray(from)])
}

const larges = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff]

/** Somewhere, mostly near the beginning or the end, stands a length or a number that can't be. */
const inflated: Damage = (bytes, chance) => {
  const damaged = Buffer.from(bytes)
  const near = Math.min(400, damaged.length - 4)
  const at = [chance(near), damaged.length - 4 - chance(near), chance(damaged.length - 4)][chance(3)]!
  const value = larges[chance(larges.length)]!
  if (chance(2) === 0) damaged.writeUInt32LE(value, at)
  else damaged.writeUInt32BE(value, at)
  return damaged
}

/** Its checksum is right, its size is not. */
const sized: Damage = (bytes, chance) => {
  const damaged = Buffer.from(bytes)
  for (const at of [16, 20]) damaged.writeUInt32BE([1, 65_535, 40_000, 0x7fff_ffff, 0][chance(5)]!, at)
  damaged.writeUInt32BE(crc32(damaged.subarray(12, 29)), 29)
  return damaged
}

const plain = [flipped, cut, holed, repeated, inflated] as const

/** A file with one damage, or a few on top of each other. */
export const damaged = (bytes: Buffer, chance: Chance, isPng = false): Uint8Array => {
  if (isPng && chance(3) === 0) return sized(bytes, chance)
  let damaged: Uint8Array = bytes
  for (let times = 1 + chance(2); times > 0 && damaged.length > 64; times--)
    damaged = plain[chance(plain.length)]!(Buffer.from(damaged), chance)
  return damaged
}

/** Damages what is in an archive and packs it soundly again, or packs it into what no archive should be. */
export const damagedArchive = async (bytes: Buffer, chance: Chance): Promise<Uint8Array> => {
  const kind = chance(6)
  if (kind === 0) return damaged(bytes, chance)
  const parts = [...(await unzip(bytes, () => true))].map(([name, content]) => ({ name, content }))
  const chosen = chance(parts.length)
  const others = parts.filter((_, at) => at !== chosen)
  const { name, content } = parts[chosen]!
  if (kind === 1) return zipOf([...others, { name, content: Buffer.alloc(1_000_000, 32), times: 20 + chance(300) }])
  if (kind === 2)
    return zipOf([...parts, ...Array.from({ length: chance(12_000) }, () => ({ name, content: '', again: true }))])
  if (kind === 3) return zipOf([...others, { name, content, says: larges[chance(larges.length)]! }])
  const text = Buffer.from(content)
  return zipOf([...others, { name, content: kind === 4 ? nested(text, chance) : damaged(text, chance) }])
}

/** One element of its markup stands in itself, very often. */
const nested = (text: Buffer, chance: Chance): Uint8Array => {
  const tags = [...text.toString('latin1').matchAll(/<([\w:]+)(?: [^<>]*)?>/g)]
  const tag = tags[chance(tags.length)]
  if (tag === undefined) return damaged(text, chance)
  const times = 1 + chance(50_000)
  const deep = tag[0].repeat(times) + (chance(2) === 0 ? `</${tag[1]}>`.repeat(times) : '')
  return Buffer.concat([text.subarray(0, tag.index), Buffer.from(deep, 'latin1'), text.subarray(tag.index)])
}

/** Archives in an archive, some of them many times. */
export const boxed = async (bytes: Buffer, chance: Chance): Promise<Uint8Array> => {
  let changed: Uint8Array = bytes
  for (let times = 1 + chance(5); times > 0; times--)
    changed = zipOf(
      [
        { name: ['word/document.xml', 'content.xml', 'inner.zip', 'mimetype'][chance(4)]!, content: changed },
        ...Array.from({ length: chance(50) }, (_, at) => ({ name: `${at}.zip`, content: changed })),
      ].slice(0, changed.length > 2_000_000 ? 1 : 51),
    )
  return chance(3) === 0 ? damaged(Buffer.from(changed), chance) : changed
}
