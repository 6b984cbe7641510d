import type { Box } from './ocr-engine.ts'
import type { Pixels } from './raster-image.ts'
import { paperOf } from './resampled.ts'

/** A grey picture with so many white pixels on each side. */
export const withMargin = ({ width, height, bytes }: Pixels, margin: number): Pixels => {
  const across = width + 2 * margin
  const all = new Uint8Array(across * (height + 2 * margin)).fill(255)
  for (let y = 0; y < height; y++) all.set(bytes.subarray(y * width, (y + 1) * width), (y + margin) * across + margin)
  return { width: across, height: height + 2 * margin, bytes: all }
}

/** The part of a grey picture within a box, as dark letters on white paper. */
export const cutOut = ({ width, bytes }: Pixels, { left, top, right, bottom }: Box): Pixels => {
  const across = right - left
  const part = new Uint8Array(across * (bottom - top))
  for (let y = top; y < bottom; y++) part.set(bytes.subarray(y * width + left, y * width + right), (y - top) * across)
  const picture = { width: across, height: bottom - top, bytes: part }
  const paper = paperOf(picture)
  const lift = paper < dark ? (grey: number) => 255 - grey + paper : (grey: number) => 255 - paper + grey
  return { ...picture, bytes: part.map((grey) => Math.min(255, lift(grey))) }
}

/** A paper with a lower grey than this has light letters. */
const dark = 110
