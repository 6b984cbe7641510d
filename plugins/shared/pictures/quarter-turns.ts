import type { Pixels } from './raster-image.ts'

/** Quarter turns to the right. */
export type Quarters = 0 | 1 | 2 | 3

/** A grey picture turned to the right by quarters. */
export const turned = (picture: Pixels, quarters: Quarters): Pixels => {
  if (quarters === 0) return picture
  const { width, height, bytes: from } = picture
  const [across, down] = quarters === 2 ? [width, height] : [height, width]
  const to = new Uint8Array(from.length)
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at++) {
      const place =
        quarters === 1
          ? x * across + across - 1 - y
          : quarters === 2
            ? (down - 1 - y) * across + across - 1 - x
            : (down - 1 - x) * across + y
      to[place] = from[at] ?? 0
    }
  return { width: across, height: down, bytes: to }
}
