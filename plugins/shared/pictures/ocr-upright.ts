import { greyOf, pgmOf } from './grey.ts'
import { readDrawn } from './ocr-draws.ts'
import type { ReadPage, ReadPicture } from './ocr-engine.ts'
import type { Pixels } from './raster-image.ts'

/** A page with lower confidence may be turned, if it has so many characters: a photograph has few from any side. */
const sure = 0.6
const fewCharacters = 50

/** In pixels: the sides are tried on a part of the picture that is no wider and no higher. */
const partPixels = 1000

/** Reads a picture with the side up that has text. The next page probably has the same side up. */
export const upright = (read: ReadPicture) => {
  let likely: Quarters = 0
  return async (image: Uint8Array): Promise<ReadPage> => {
    const picture = greyOf(image)
    if (picture === null) return readPlain(read, image)
    const page = await readDrawn(read, turned(picture, likely))
    if (page.confidence >= sure) return page
    if (charactersOf(page) < fewCharacters) return likely === 0 ? page : surer(page, await readDrawn(read, picture))
    const side = await surestSide(read, picture, likely)
    if (side === null) return page
    const other = await readDrawn(read, turned(picture, side))
    if (other.confidence < page.confidence) return page
    likely = side
    return other
  }
}

/** The engine itself decodes a picture that no program has drawn. */
const readPlain = async (read: ReadPicture, image: Uint8Array): Promise<ReadPage> => {
  const page = await read(image)
  return page.lines.length === 0 ? read(image, 'block') : page
}

/** The other side from which a part of the picture is read best; null where none is read surely. */
const surestSide = async (read: ReadPicture, picture: Pixels, tried: Quarters): Promise<Quarters | null> => {
  const part = mostInked(picture, partPixels)
  let [best, most]: [Quarters | null, number] = [null, sure]
  for (const side of ([0, 1, 3, 2] as const).filter((turned) => turned !== tried)) {
    const { confidence, lines } = await read(pgmOf(turned(part, side)), 'block')
    if (lines.length > 0 && confidence >= most) [best, most] = [side, confidence]
  }
  return best
}

const surer = (one: ReadPage, other: ReadPage): ReadPage => (other.confidence > one.confidence ? other : one)

const charactersOf = ({ lines }: ReadPage): number => lines.reduce((sum, { text }) => sum + text.length, 0)

/** Quarter turns to the right. */
type Quarters = 0 | 1 | 2 | 3

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
