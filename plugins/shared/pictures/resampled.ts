import type { Pixels } from './raster-image.ts'

export interface Redrawing {
  /** The size of the result, in sizes of the original. */
  readonly scale: number
  /** In degrees, with the clock. */
  readonly turn: number
}

/** A grey picture at another size and turned; what the corners of a turned picture uncover is its paper. */
export const redrawn = (picture: Pixels, { scale, turn }: Redrawing): Pixels => {
  const radians = (turn * Math.PI) / 180
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)]
  const width = Math.round(scale * (picture.width * Math.abs(cos) + picture.height * Math.abs(sin)))
  const height = Math.round(scale * (picture.width * Math.abs(sin) + picture.height * Math.abs(cos)))
  const bytes = new Uint8Array(width * height)
  const paper = paperOf(picture)
  const [acrossOf, downOf] = [cos / scale, sin / scale]
  for (let y = 0, at = 0; y < height; y++) {
    const down = y + 0.5 - height / 2
    let fromX = picture.width / 2 - 0.5 + (0.5 - width / 2) * acrossOf + down * downOf
    let fromY = picture.height / 2 - 0.5 - (0.5 - width / 2) * downOf + down * acrossOf
    for (let x = 0; x < width; x++, at++, fromX += acrossOf, fromY -= downOf)
      bytes[at] = greyAt(picture, fromX, fromY, paper)
  }
  return { width, height, bytes }
}

/** The cubic of Catmull and Rom over four greys. */
const cubic = (a: number, b: number, c: number, d: number, at: number): number =>
  b + 0.5 * at * (c - a + at * (2 * a - 5 * b + 4 * c - d + at * (3 * (b - c) + d - a)))

const greyAt = ({ width, height, bytes }: Pixels, x: number, y: number, paper: number): number => {
  const [left, top] = [Math.floor(x), Math.floor(y)]
  if (left < -1 || top < -1 || left >= width || top >= height) return paper
  const row = (line: number): number => {
    const from = Math.min(height - 1, Math.max(0, line)) * width
    const grey = (column: number) => bytes[from + Math.min(width - 1, Math.max(0, column))]!
    return cubic(grey(left - 1), grey(left), grey(left + 1), grey(left + 2), x - left)
  }
  const value = cubic(row(top - 1), row(top), row(top + 1), row(top + 2), y - top)
  return Math.min(255, Math.max(0, Math.round(value)))
}

/** The grey that half of the picture is lighter than. */
export const paperOf = ({ bytes }: Pixels): number => {
  const counts = new Uint32Array(256)
  for (const grey of bytes) counts[grey]!++
  let left = bytes.length / 2
  return Math.max(
    0,
    counts.findIndex((count) => (left -= count) <= 0),
  )
}
