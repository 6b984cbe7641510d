import type { Pixels } from './raster-image.ts'

/** The part of a grey picture with the most ink, no wider and no higher than `most` pixels. */
export const mostInked = (picture: Pixels, most: number): Pixels => {
  const [width, height] = [Math.min(picture.width, most), Math.min(picture.height, most)]
  const left = fullest(inkAlong(picture, 'x'), width)
  const top = fullest(inkAlong(picture, 'y'), height)
  const bytes = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    const from = (top + y) * picture.width + left
    bytes.set(picture.bytes.subarray(from, from + width), y * width)
  }
  return { width, height, bytes }
}

/** How unlike their neighbours to the right the pixels of each column or row are: paper has no such edges. */
const inkAlong = ({ width, height, bytes }: Pixels, axis: 'x' | 'y'): Float64Array => {
  const ink = new Float64Array(axis === 'x' ? width : height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x + 1 < width; x++) {
      const at = y * width + x
      ink[axis === 'x' ? x : y]! += Math.abs(bytes[at]! - bytes[at + 1]!)
    }
  return ink
}

/** The beginning of the stretch of that length with the highest sum. */
const fullest = (values: Float64Array, length: number): number => {
  let sum = values.subarray(0, length).reduce((all, value) => all + value, 0)
  let [best, most] = [0, sum]
  for (let at = length; at < values.length; at++) {
    sum += values[at]! - values[at - length]!
    if (sum > most) [best, most] = [at - length + 1, sum]
  }
  return best
}
