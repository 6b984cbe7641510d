import { Unreadable } from '../../../core/errors.ts'
import type { Image } from './image.ts'
import { runDecoder } from './raster.ts'
import { type Directory, directoryOfPage, numbersIn } from '../image-heads.ts'
import { widened } from './tiff-nibbles.ts'

/** A drawn picture, without transparency. */
export interface Pixels {
  readonly width: number
  readonly height: number
  /** Rows from the top: one byte per pixel for grey, three for colour. */
  readonly bytes: Uint8Array
}

export interface DrawOptions {
  readonly colours: 'grey' | 'rgb'
  /** In pixels: the limit of the longer side. */
  readonly longest: number
  /** Doubles the size when the result stays within `longest`. */
  readonly enlarge?: boolean
  /** From 1, for files with several pages. */
  readonly page?: number
}

/**
 * Draws an image upright, on white instead of transparency, at a bounded size. Throws Unreadable when the image cannot
 * be decoded, and Unconfigured without ffmpeg.
 */
export const drawImage = async (image: Image, wish: DrawOptions, signal: AbortSignal): Promise<Pixels> => {
  if (image.format === 'tiff') expectKnownForm(image.bytes, wish.page ?? 1)
  const { width, height } = fittedSize(image, wish)
  const [format, channels] = wish.colours === 'grey' ? (['gray', 1] as const) : (['rgb24', 3] as const)
  const most = width * height * channels
  const scale = image.orientation < 5 ? `scale=${width}:${height}` : `scale=${height}:${width}`
  const wide = image.format === 'tiff' ? widened(image.bytes, wish.page ?? 1) : null
  const filters = [...(wide === null ? [] : [wide.filter]), scale, turns[image.orientation - 1], onWhite]
  const given = [
    ...['-nostdin', '-hide_banner', '-loglevel', 'quiet', '-threads', '1', '-filter_complex_threads', '1'],
    ...['-protocol_whitelist', 'pipe', '-f', `${image.format}_pipe`, '-frame_size', `${image.bytes.length}`],
    ...['-max_pixels', `${mostPixels}`, '-noautorotate'],
    ...(image.format === 'tiff' ? ['-page', `${wish.page ?? 1}`] : []),
    ...['-i', 'pipe:0', '-frames:v', '1', '-an', '-sn', '-dn'],
    ...['-filter_complex', filters.join(','), '-f', 'rawvideo', '-pix_fmt', format, 'pipe:1'],
  ]
  const bytes = await runDecoder({ program: 'ffmpeg', given, input: wide?.bytes ?? image.bytes, most }, signal)
  if (bytes.length !== most) throw new Unreadable()
  return { width, height, bytes }
}

/** Slightly above the limit, since a decoder counts whole blocks. */
const mostPixels = 44_000_000

/** Filters of ffmpeg by the orientation's number in Exif, from 1 to 8. */
const turns =
  'null hflip hflip,vflip vflip transpose=cclock_flip transpose=clock transpose=clock_flip transpose=cclock'.split(' ')

/** Lays the picture on white: the colour of a transparent pixel has no meaning. */
const onWhite =
  'format=rgba,split[under][over];[under]lutrgb=r=255:g=255:b=255:a=255[white];[white][over]overlay=format=rgb'

/** Each side keeps at least one pixel. */
const fittedSize = ({ width, height }: Image, { longest, enlarge = false }: DrawOptions) => {
  const longer = Math.max(width, height)
  const scale = Math.min(enlarge ? 2 : 1, longest / longer)
  const side = (length: number) => Math.max(1, Math.round(length * scale))
  return { width: side(width), height: side(height) }
}

const tags = { colours: 262, compression: 259, tileWidth: 322, sampleFormat: 339 } as const

/** By their numbers in TIFF: none, the three codes of fax, LZW, both numbers of Deflate, and PackBits. */
const compressions: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 8, 32946, 32773])

const unsigned = 1

/** Throws Unreadable for a page that the decoder draws blank or not: tiles, JPEG, colours from 8 on (L*a*b*), odd numbers. */
const expectKnownForm = (bytes: Uint8Array, page: number): void => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const directory = directoryOfPage(view, page)
  const numbers = numbersIn(directory)
  const isKnown =
    !numbers.has(tags.tileWidth) &&
    (numbers.get(tags.colours) ?? 0) < 8 &&
    compressions.has(numbers.get(tags.compression) ?? 1) &&
    sampleFormatOf(view, directory) === unsigned
  if (!isKnown) throw new Unreadable({ validator: { format: sentence } })
}

/** The form of the first sample; null where the list of forms lies outside of the file. */
const sampleFormatOf = (view: DataView, { entries, little }: Directory): number | null => {
  for (let at = 0; at + 12 <= entries.byteLength; at += 12) {
    if (entries.getUint16(at, little) !== tags.sampleFormat) continue
    // One or two numbers stand in the entry itself.
    if (entries.getUint32(at + 4, little) < 3) return entries.getUint16(at + 8, little)
    const list = entries.getUint32(at + 8, little)
    return list + 2 > view.byteLength ? null : view.getUint16(list, little)
  }
  return unsigned
}

const sentence =
  'Expected a TIFF of strips with whole numbers in grey, RGB or CMYK, plain or packed by LZW, Deflate, PackBits or fax. Save the picture as PNG.'
