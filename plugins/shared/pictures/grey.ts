import type { Pixels } from './raster-image.ts'

/** A grey picture: one byte for each pixel. Null when the bytes are no PGM with 256 greys. */
export const greyOf = (picture: Uint8Array): Pixels | null => {
  const head = /^P5\n(\d+) (\d+)\n255\n/.exec(Buffer.from(picture.subarray(0, 40)).toString('latin1'))
  if (!head) return null
  const [width, height] = [Number(head[1]), Number(head[2])]
  const bytes = picture.subarray(head[0].length)
  return bytes.length === width * height ? { width, height, bytes } : null
}

export const pgmOf = ({ width, height, bytes }: Pixels): Uint8Array =>
  Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`, 'latin1'), bytes])
