import { evidenceOf, meanConfidence, type ReadLine, type ReadPage, type ReadPicture, type Box } from './ocr-engine.ts'
import { pgmOf } from './grey.ts'
import type { Pixels } from './raster-image.ts'
import { withTables } from './ocr-tables.ts'
import { redrawn } from './resampled.ts'
import { tiltOf } from './tilt.ts'

/** One way to draw a picture for the engine. */
interface Draw {
  readonly scale: number
  /** How often the picture is smoothed before. */
  readonly smoothings: number
  readonly isStraight: boolean
}

/** In pixels of the longer side: small letters are read better at several sizes, and cost little. */
const small = 1500
const isSmall = ({ width, height }: Pixels): boolean => Math.max(width, height) < small

/** The first size at which a small picture is read. */
const enlarged = 1.5

/** A picture with a coarser grain, in greys, is read smoothed too. */
const coarse = 3

/** A reading with this confidence needs no other one. */
const clear = 0.93

/** Readings with less confidence than this don't come near the text: other draws would not help. */
const hopeless = 0.5

/** In degrees: the engine itself reads lines that fall less. */
const slight = 0.7

/** A line of two readings is the same when its boxes share so much of the area that they cover. */
const sameLine = 0.6

/** Reads a picture, with its ruled tables cell by cell. */
export const readDrawn = async (read: ReadPicture, picture: Pixels): Promise<ReadPage> => {
  const tilt = tiltOf(picture)
  const page = await readInWays(read, picture, tilt)
  const straightened = tilt === 0 ? picture : redrawn(picture, { scale: 1, turn: -tilt })
  return withTables(page, { read, picture: straightened, scale: isSmall(picture) ? enlarged : 1 })
}

/** Reads a picture as it is drawn in a bounded number of ways, and takes each line from where it is read best. */
const readInWays = async (read: ReadPicture, picture: Pixels, tilt: number): Promise<ReadPage> => {
  const turn = Math.abs(tilt) < slight ? 0 : -tilt
  const isGrainy = grainOf(picture) > coarse
  const draws = drawsOf(isSmall(picture), isGrainy, turn !== 0)
  const pages: ReadPage[] = []
  for (const draw of draws) {
    const { scale, isStraight } = draw
    const page = await read(pgmOf(drawn(picture, draw, turn)))
    pages.push({ ...page, lines: page.lines.map((line) => inOriginal(line, scale)) })
    const best = Math.max(...pages.map(({ confidence }) => confidence))
    if (best >= clear || isAgreed(pages)) break
    if (best < hopeless && isStraight && pages.length > (isGrainy ? 1 : 0)) break
  }
  return pages.every(({ lines }) => lines.length === 0) ? read(pgmOf(picture), 'block') : joined(pages)
}

/** Whether the last page says what a page before it says. */
const isAgreed = (pages: readonly ReadPage[]): boolean => {
  const [last = '', ...before] = pages.map(({ lines }) => lines.map(({ text }) => text).join('\n')).reverse()
  return last !== '' && before.includes(last)
}

/** The most promising draws come first. */
const drawsOf = (isLow: boolean, isGrainy: boolean, isTilted: boolean): readonly Draw[] => {
  const plain: readonly Draw[] = (isLow ? [enlarged, 1, 2] : [1]).map((scale) => ({ ...straight, scale }))
  const soft: readonly Draw[] = !isGrainy
    ? []
    : isLow
      ? [
          { ...straight, scale: enlarged, smoothings: 1 },
          { ...straight, scale: 1, smoothings: 2 },
          { ...straight, scale: 2, smoothings: 1 },
        ]
      : [{ ...straight, scale: 1, smoothings: 2 }]
  const asItLies: readonly Draw[] = isTilted ? [{ ...straight, scale: 1, isStraight: false }] : []
  return [...plain.slice(0, 1), ...soft.slice(0, 1), ...plain.slice(1), ...soft.slice(1), ...asItLies]
}

const straight = { smoothings: 0, isStraight: true } as const

const drawn = (picture: Pixels, { scale, smoothings, isStraight }: Draw, turn: number): Pixels => {
  let soft = picture
  for (let count = 0; count < smoothings; count++) soft = smoothed(soft)
  const needed = isStraight ? turn : 0
  return scale === 1 && needed === 0 ? soft : redrawn(soft, { scale, turn: needed })
}

const inOriginal = (line: ReadLine, scale: number): ReadLine => {
  const { left, top, right, bottom } = line.box
  return { ...line, box: { left: left / scale, top: top / scale, right: right / scale, bottom: bottom / scale } }
}

/** The page with the most evidence, in which lines of other pages stand where they have more. */
const joined = (pages: readonly ReadPage[]): ReadPage => {
  const best = pages.reduce((one, other) => (evidenceOf(other.lines) > evidenceOf(one.lines) ? other : one))
  const others = pages.filter((page) => page !== best).flatMap(({ lines }) => lines)
  if (others.length === 0) return best
  const lines = best.lines.map((line) => {
    const same = others.filter(({ box }) => overlapOf(box, line.box) > sameLine)
    const { text, confidence, evidence, words } = same.reduce(
      (one, line) => (line.evidence > one.evidence ? line : one),
      line,
    )
    return { ...line, text, confidence, evidence, words }
  })
  return { lines, confidence: meanConfidence(lines) }
}

/** The area that two boxes share, by the area that they cover together: 0 to 1. */
export const overlapOf = (one: Box, other: Box): number => {
  const across = Math.min(one.right, other.right) - Math.max(one.left, other.left)
  const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
  if (across <= 0 || down <= 0) return 0
  return (across * down) / (areaOf(one) + areaOf(other) - across * down)
}

const areaOf = ({ left, top, right, bottom }: Box): number => (right - left) * (bottom - top)

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
