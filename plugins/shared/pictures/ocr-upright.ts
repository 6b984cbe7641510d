import { greyOf, pgmOf } from './grey.ts'
import { mostInked } from './most-inked.ts'
import { readDrawn } from './ocr-draws.ts'
import type { ReadPage, ReadPicture } from './ocr-engine.ts'
import { type Quarters, turned } from './quarter-turns.ts'
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
