import { Unreadable } from '../../../core/errors.ts'
import { openImage, type Image } from '../../shared/pictures/image.ts'
import { readImage, type Line, type Reading } from '../../shared/pictures/ocr.ts'
import { drawImage, type Pixels } from '../../shared/pictures/raster-image.ts'
import { type Code, findCodes } from './image-codes.ts'
import { findThings, searchPixels, type Things } from './image-objects.ts'

/** The objects, the faces, the codes, the text and the colours of an image, and a caption made of them. */
export const recognise = async (bytes: Uint8Array, signal: AbortSignal) => {
  const image = openImage(bytes)
  const pixels = await drawImage(image, { colours: 'rgb', longest: searchPixels }, signal)
  const facts = factsOf(pixels)
  const [{ objects, faces }, codes, reading] = await Promise.all([
    findThings(image, pixels, signal),
    findCodes(image, signal),
    readImage(bytes, signal).catch(nothingRead),
  ])
  const kept = reading === null ? [] : readableLines(reading)
  const words = kept.map(({ text }) => text).join('\n')
  return {
    caption: captionOf(image, facts, { objects, faces, codes, words }),
    objects,
    faces,
    codes,
    text: words === '' ? null : words.slice(0, mostCharacters),
    textConfidence: words === '' ? null : meanConfidence(kept),
    ...(reading?.missing && { missing: [reading.missing] }),
    truncated: words.length > mostCharacters || image.pages > 1,
    facts: { format: image.format, width: image.width, height: image.height, shape: shapeOf(image), ...facts },
    method: 'offline',
  }
}

/** Characters of the text in the result; the caption quotes fewer. */
const mostCharacters = 20_000
const quoted = 200

/** An engine that fails on a picture has read no text. The file is already known to be an image. */
const nothingRead = (error: unknown): null => {
  if (error instanceof Unreadable) return null
  throw error
}

/** Keeps lines with enough confidence: an engine also sees letters in leaves and stones. */
const readableLines = ({ lines }: Reading): readonly Line[] =>
  lines.filter(({ text, confidence }) => confidence >= 0.7 && /[\p{L}\p{N}]{2}/u.test(text))

/** Longer lines count more. */
const meanConfidence = (lines: readonly Line[]): number => {
  const characters = lines.reduce((sum, { text }) => sum + text.length, 0)
  return Math.round((100 * lines.reduce((sum, line) => sum + line.confidence * line.text.length, 0)) / characters) / 100
}

/** Sides that differ by less than a twentieth count as equal. */
const shapeOf = ({ width, height }: Image): 'landscape' | 'portrait' | 'square' => {
  if (Math.max(width, height) < 1.05 * Math.min(width, height)) return 'square'
  return width > height ? 'landscape' : 'portrait'
}

interface Seen extends Things {
  readonly codes: readonly Code[] | null
  readonly words: string
}

/** Sentences from counts and names alone: no model writes them. */
const captionOf = (image: Image, facts: Facts, { objects, faces, codes, words }: Seen): string =>
  [
    `${looksOf(image, facts, words)}.`,
    objectsOf(objects),
    ...facesOf(faces),
    ...codesOf(codes ?? []),
    textOf(words),
  ].join(' ')

const facesOf = ({ length }: Things['faces']): readonly string[] =>
  length === 0 ? [] : [length === 1 ? 'One face was found.' : `${length} faces were found.`]

const codesOf = (codes: readonly Code[]): readonly string[] =>
  codes.length === 0
    ? []
    : [`Codes in it: ${codes.map(({ format, text }) => `${format} “${shortened(text)}”`).join(', ')}.`]

const looksOf = (image: Image, { kind, brightness, colours }: Facts, words: string): string => {
  const page = kind === 'drawing' && words.length > 200
  const what = page
    ? 'a page or a screen full of text'
    : { photo: 'a photo', drawing: 'a drawing or a picture made on a screen', unclear: 'an image' }[kind]
  const light = brightness < 0.25 ? ', dark' : brightness > 0.75 ? ', bright' : ''
  const names = colours.slice(0, 2).map(({ name }) => name)
  const mostly = names.length === 0 ? ', of many colours' : `, mostly ${names.join(' and ')}`
  return `What looks like ${what} in ${shapeOf(image)} format${light}${mostly}`
}

const objectsOf = (objects: Things['objects']): string => {
  if (objects.length === 0) return 'No object was recognised in it.'
  const counts = new Map<string, number>()
  for (const { label } of objects) counts.set(label, (counts.get(label) ?? 0) + 1)
  const named = [...counts].map(([label, count]) => (count === 1 ? label : `${label} (${count})`))
  return `Probably in it: ${named.join(', ')}.`
}

const textOf = (words: string): string =>
  words === '' ? 'No text was read in it.' : `Text in it: “${shortened(words)}”`

const shortened = (text: string): string => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > quoted ? `${line.slice(0, quoted)}…` : line
}

interface Facts {
  /** Decided by the share of even colour. `drawing` stands for all images from a screen or printer. */
  readonly kind: 'photo' | 'drawing' | 'unclear'
  /** From 0, black, to 1, white. */
  readonly brightness: number
  /** The most frequent colours first, with their share from 0 to 1. Colours below a tenth are left out. */
  readonly colours: readonly { readonly name: string; readonly share: number }[]
}

/** The facts that the pixels alone show. */
export const factsOf = ({ width, height, bytes }: Pixels): Facts => {
  const counts = new Map<string, number>()
  let light = 0
  let even = 0
  for (let row = 0, at = 0; row < height; row++) {
    for (let column = 0; column < width; column++, at += 3) {
      const [red, green, blue] = [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0]
      const name = nameOf(red, green, blue)
      counts.set(name, (counts.get(name) ?? 0) + 1)
      light += 0.299 * red + 0.587 * green + 0.114 * blue
      if (column > 0 && red === bytes[at - 3] && green === bytes[at - 2] && blue === bytes[at - 1]) even++
    }
  }
  const area = width * height
  const colours = [...counts]
    .map(([name, count]) => ({ name, share: rounded(count / area) }))
    .filter(({ share }) => share >= 0.1)
    .sort((a, b) => b.share - a.share)
  return { kind: kindOf(even / area), brightness: rounded(light / area / 255), colours: colours.slice(0, 4) }
}

/** Even colour from pixel to pixel is rare in photos: sensors have noise. */
const kindOf = (even: number): Facts['kind'] => (even > 0.65 ? 'drawing' : even < 0.5 ? 'photo' : 'unclear')

const rounded = (part: number): number => Math.round(part * 100) / 100

/** In degrees of hue: the upper limit of each colour's name. */
const hues = [
  [15, 'red'],
  [42, 'orange'],
  [68, 'yellow'],
  [165, 'green'],
  [195, 'turquoise'],
  [255, 'blue'],
  [290, 'purple'],
  [345, 'pink'],
  [360, 'red'],
] as const

/** Dark and pale colours have no hue that a person would name. */
const nameOf = (red: number, green: number, blue: number): string => {
  const most = Math.max(red, green, blue)
  const range = most - Math.min(red, green, blue)
  if (most < 45) return 'black'
  if (range < 28 || range / most < 0.14) return most > 215 ? 'white' : 'grey'
  const hue = hueOf(red, green, blue, most, range)
  const name = hues.find(([end]) => hue <= end)?.[1] ?? 'red'
  const earthy = hue > 8 && hue <= 42 && (most < 200 || range / most < 0.6)
  return earthy ? 'brown' : name
}

/** Degrees from 0 to 360, red at both ends, as in HSV. */
const hueOf = (red: number, green: number, blue: number, most: number, range: number): number => {
  if (most === red) return (((green - blue) / range) * 60 + 360) % 360
  if (most === green) return ((blue - red) / range) * 60 + 120
  return ((red - green) / range) * 60 + 240
}
