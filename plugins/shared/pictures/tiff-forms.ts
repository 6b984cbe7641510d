import { Unreadable } from '../../../core/errors.ts'
import { type Directory, directoryOfPage, numbersIn } from '../image-heads.ts'

const tags = { compression: 259, tileWidth: 322, sampleFormat: 339 } as const

/** By their numbers in TIFF: none, the three codes of fax, LZW, both numbers of Deflate, and PackBits. */
const compressions: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 8, 32946, 32773])

const unsigned = 1

/** Throws Unreadable for a page that the decoder would draw blank: tiles, JPEG within TIFF, or signed or broken numbers. */
export const expectKnownForm = (bytes: Uint8Array, page: number): void => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const directory = directoryOfPage(view, page)
  const numbers = numbersIn(directory)
  const isKnown =
    !numbers.has(tags.tileWidth) &&
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
  'Expected a TIFF of strips with whole numbers, plain or packed by LZW, Deflate, PackBits or fax. Save the picture as PNG.'
