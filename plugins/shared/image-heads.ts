/** The formats whose heads are read here, without a library and without decoding a pixel. */
export type ImageFormat = 'png' | 'jpeg' | 'webp' | 'gif' | 'bmp' | 'tiff' | 'other'

/** What the head of an image says. A forged head may say anything, so these are claims. */
export interface ImageHead {
  readonly format: ImageFormat
  /** Pixels, before the orientation turns them. */
  readonly width: number
  readonly height: number
  /** As Exif counts: 1 is upright, and 5 to 8 swap width and height. */
  readonly orientation: number
  /** Pictures in the file; always 1 except for TIFF. */
  readonly pages: number
}

/** The head of an image, unturned; null for an unknown format, and for an image that is cut off within its head. */
export const imageHeadOf = (bytes: Uint8Array): ImageHead | null => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return unlessCut(() => {
    for (const [format, read] of Object.entries(readers)) {
      const found = read(view)
      if (found !== null) return { format: format as ImageFormat, orientation: 1, pages: 1, ...found }
    }
    return null
  }, null)
}

const unlessCut = <T>(read: () => T, cut: T): T => {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return cut
    throw error
  }
}

type Found = Partial<ImageHead> & Pick<ImageHead, 'width' | 'height'>

const word = (view: DataView, at: number, length = 4) =>
  String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, Math.min(length, view.byteLength - at)))

const png = (view: DataView): Found | null =>
  word(view, 0, 8) === '\x89PNG\r\n\x1a\n' && word(view, 12) === 'IHDR'
    ? { width: view.getUint32(16), height: view.getUint32(20), orientation: turnIn(view, 8, false) }
    : null

const gif = (view: DataView): Found | null =>
  /^GIF8[79]a$/.test(word(view, 0, 6)) ? { width: view.getUint16(6, true), height: view.getUint16(8, true) } : null

/** In bytes: the longest head of a BMP, and a smaller number than any four letters of a text. */
const longestBmpHead = 124

const bmp = (view: DataView): Found | null => {
  if (word(view, 0, 2) !== 'BM') return null
  const length = view.getUint32(14, true)
  if (length > longestBmpHead) return null
  // The oldest kind counts in two bytes; in the others a negative height means from top to bottom.
  if (length === 12) return { width: view.getUint16(18, true), height: view.getUint16(20, true) }
  return { width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) }
}

const webp = (view: DataView): Found | null => {
  if (word(view, 0) !== 'RIFF' || word(view, 8) !== 'WEBP') return null
  switch (word(view, 12)) {
    case 'VP8 ':
      if (word(view, 23, 3) !== '\x9d\x01\x2a') return null
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    case 'VP8L': {
      if (view.getUint8(20) !== 0x2f) return null
      const bits = view.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X': {
      const three = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 65536
      return { width: three(24) + 1, height: three(27) + 1, orientation: turnIn(view, 12, true) }
    }
    default:
      return null
  }
}

const jpeg = (view: DataView): Found | null => {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return null
  let orientation = 1
  for (let at = 2; ;) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at++
      continue
    }
    // Start of frame, of whichever coding; C4, C8 and CC are tables.
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5), orientation }
    }
    if (marker === 0xd9 || marker === 0xda) return null
    if (marker === 0xe1 && word(view, at + 4, 6) === 'Exif\0\0') orientation = turnOf(view, at + 10)
    const alone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)
    at += alone ? 2 : 2 + view.getUint16(at + 2)
  }
}

const tiff = (view: DataView): Found | null => {
  if (!/^(II\*\0|MM\0\*)$/.test(word(view, 0))) return null
  const first = directoryOf(view, 0)
  const seen = new Set<number>()
  for (let at = first.next; at !== 0 && !seen.has(at) && seen.size < 1000; at = directoryOf(view, 0, at).next)
    seen.add(at)
  return { ...taggedIn(first), pages: 1 + seen.size }
}

/** BigTIFF, HEIC and AVIF, which nothing here draws. */
const other = (view: DataView): Found | null =>
  /^(?:II\+\0|MM\0\+|[^]{4}ftyp(?:avi[fs]|hei[cmsx]|hev[cmsx]|mi[af]1|msf1))/.test(word(view, 0, 12)) ? noSize : null

const noSize = { width: 0, height: 0 } as const

/** A photo whose Exif is broken counts as upright. */
const turnOf = (view: DataView, at: number): number => unlessCut(() => taggedIn(directoryOf(view, at)).orientation, 1)

/** The turn in the Exif of a PNG, or of a WebP, which counts in little order; 1 without Exif. */
const turnIn = (view: DataView, first: number, little: boolean): number => {
  for (let at = first, length = 0; at + 12 <= view.byteLength; at += 8 + length + (little ? length & 1 : 4)) {
    length = view.getUint32(little ? at + 4 : at, little)
    // The numbers are the names `EXIF` and `eXIf`.
    if (view.getUint32(little ? at : at + 4) === (little ? 0x45584946 : 0x65584966))
      return turnOf(view, at + (word(view, at + 8, 6) === 'Exif\0\0' ? 14 : 8))
  }
  return 1
}

export interface Directory {
  readonly little: boolean
  readonly entries: DataView
  readonly next: number
}

/** A directory of TIFF, which Exif is too; the first one when no place is given. Places count from `start`. */
export const directoryOf = (view: DataView, start: number, place?: number): Directory => {
  const little = word(view, start, 2) === 'II'
  const at = start + (place ?? view.getUint32(start + 4, little))
  const length = view.getUint16(at, little) * 12
  const entries = new DataView(view.buffer, view.byteOffset + at + 2, Math.min(length, view.byteLength - at - 2))
  const end = at + 2 + length
  return { little, entries, next: end + 4 > view.byteLength ? 0 : view.getUint32(end, little) }
}

/** The directory of a page, from 1. */
export const directoryOfPage = (view: DataView, page: number): Directory => {
  let directory = directoryOf(view, 0)
  for (let number = 1; number < page; number++) directory = directoryOf(view, 0, directory.next)
  return directory
}

/** The number in each entry by its tag; for a list of numbers, the first of them or the place of the list. */
export const numbersIn = ({ little, entries }: Directory): ReadonlyMap<number, number> => {
  const numbers = new Map<number, number>()
  for (let at = 0; at + 12 <= entries.byteLength; at += 12) {
    const short = entries.getUint16(at + 2, little) === 3
    numbers.set(
      entries.getUint16(at, little),
      short ? entries.getUint16(at + 8, little) : entries.getUint32(at + 8, little),
    )
  }
  return numbers
}

const taggedIn = (directory: Directory) => {
  const numbers = numbersIn(directory)
  const orientation = numbers.get(0x112) ?? 1
  return {
    width: numbers.get(0x100) ?? 0,
    height: numbers.get(0x101) ?? 0,
    orientation: orientation >= 1 && orientation <= 8 ? orientation : 1,
  }
}

const readers = { png, jpeg, webp, gif, bmp, tiff, other }
