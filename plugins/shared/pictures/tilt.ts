import type { Pixels } from './raster-image.ts'
import { paperOf } from './resampled.ts'

/** In degrees: lines of text are looked for between these slants, first in wide steps and then in narrow ones. */
const widest = 15
const steps = { wide: 0.5, narrow: 0.1 }

/** Each slant is tried on a picture of at most so many cells on its longer side. */
const cells = 1000

/** Lines of text at their slant stand out from those of a picture that lies straight by at least this factor. */
const clearly = 1.1

/** In degrees with the clock: how far lines of text fall to the right. 0 where the picture lies straight, or has none. */
export const tiltOf = (picture: Pixels): number => {
  const ink = inkOf(picture)
  const sharpness = (degrees: number) => sharpnessAt(ink, degrees)
  const best = (from: number, to: number, step: number): number => {
    let [slant, most] = [0, -1]
    for (let place = 0; place <= Math.round((to - from) / step); place++) {
      const degrees = from + place * step
      const found = sharpness(degrees)
      if (found > most) [slant, most] = [degrees, found]
    }
    return slant
  }
  const roughly = best(-widest, widest, steps.wide)
  const slant = best(roughly - steps.wide, roughly + steps.wide, steps.narrow)
  return sharpness(slant) > clearly * sharpness(0) ? slant : 0
}

interface Ink {
  readonly size: number
  /** Three numbers for each cell with ink: its column, its row and how far its grey is from that of the paper. */
  readonly marks: Float32Array
}

const inkOf = (picture: Pixels): Ink => {
  const { width, height, bytes } = picture
  const step = Math.max(1, Math.max(width, height) / cells)
  const [across, down] = [Math.floor(width / step), Math.floor(height / step)]
  const paper = paperOf(picture)
  const sums = new Float32Array(across * down)
  const counts = new Float32Array(across * down)
  for (let y = 0; y < height; y++) {
    const row = Math.floor(y / step)
    if (row >= down) break
    for (let x = 0; x < width; x++) {
      const column = Math.floor(x / step)
      if (column >= across) break
      sums[row * across + column]! += Math.abs(bytes[y * width + x]! - paper)
      counts[row * across + column]! += 1
    }
  }
  const marks: number[] = []
  for (let cell = 0; cell < sums.length; cell++) {
    const depth = sums[cell]! / counts[cell]!
    if (depth > faint) marks.push(cell % across, Math.floor(cell / across), depth)
  }
  return { size: across + down, marks: Float32Array.from(marks) }
}

/** In greys: a smaller distance from the paper is no ink. */
const faint = 64

/** How unlike neighbouring rows are: the sum of squares of their differences, with rows at that slant. */
const sharpnessAt = ({ size, marks }: Ink, degrees: number): number => {
  const radians = (degrees * Math.PI) / 180
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)]
  const rows = new Float64Array(2 * size + 2)
  for (let at = 0; at < marks.length; at += 3)
    rows[Math.round(marks[at + 1]! * cos - marks[at]! * sin) + size]! += marks[at + 2]!
  let sum = 0
  for (let at = 1; at < rows.length; at++) sum += (rows[at]! - rows[at - 1]!) ** 2
  return sum
}
