import type { Pixels } from './raster-image.ts'

/** The grain of a picture in greys: the typical difference of a pixel from what its neighbours make expect. */
export const grainOf = ({ width, height, bytes }: Pixels): number => {
  const counts = new Uint32Array(4 * 255 + 1)
  let all = 0
  for (let y = 1; y < height - 1; y++)
    for (let x = 1; x < width - 1; x++) {
      const at = y * width + x
      const odd =
        4 * bytes[at]! -
        2 * (bytes[at - 1]! + bytes[at + 1]! + bytes[at - width]! + bytes[at + width]!) +
        bytes[at - width - 1]! +
        bytes[at - width + 1]! +
        bytes[at + width - 1]! +
        bytes[at + width + 1]!
      counts[Math.min(Math.abs(odd), counts.length - 1)]!++
      all++
    }
  // Letters cover less than half of a page, so its median tells the paper's own grain.
  let left = all / 2
  const median = counts.findIndex((count) => (left -= count) <= 0)
  return Math.max(0, median) / medianOfOne / 6
}

/** The median distance from zero of a normal distribution with a deviation of one. */
const medianOfOne = 0.6745

/** The picture with each pixel as the weighted mean of its neighbourhood: weights of 1, 2 and 1 in both directions. */
export const smoothed = (picture: Pixels): Pixels => {
  const { width, height, bytes } = picture
  const rows = new Uint16Array(bytes.length)
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at++)
      rows[at] = bytes[x > 0 ? at - 1 : at]! + 2 * bytes[at]! + bytes[x < width - 1 ? at + 1 : at]!
  const to = new Uint8Array(bytes.length)
  for (let y = 0, at = 0; y < height; y++) {
    const [above, below] = [y > 0 ? -width : 0, y < height - 1 ? width : 0]
    for (let x = 0; x < width; x++, at++) to[at] = (rows[at + above]! + 2 * rows[at]! + rows[at + below]! + 8) >> 4
  }
  return { width, height, bytes: to }
}
