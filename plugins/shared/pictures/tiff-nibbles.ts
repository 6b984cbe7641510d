import { directoryOfPage } from '../image-heads.ts'

/** A TIFF that the decoder takes, and the filter that gives its picture. */
export interface Widened {
  readonly bytes: Uint8Array
  readonly filter: string
}

const tags = { bits: 258, photometric: 262, samples: 277, planes: 284, predictor: 317 } as const

/**
 * A page whose colours and transparency have four bits each, which ffmpeg refuses. The copy claims one sample of sixteen
 * bits, and the filter parts each into its quarters. Null for other pages.
 */
export const widened = (original: Uint8Array, page: number): Widened | null => {
  const bytes = new Uint8Array(original)
  const view = new DataView(bytes.buffer)
  const { entries, little } = directoryOfPage(view, page)
  const placeOf = (tag: number): number | null => {
    for (let at = 0; at + 12 <= entries.byteLength; at += 12) if (entries.getUint16(at, little) === tag) return at
    return null
  }
  const valueOf = (tag: number, absent: number) => {
    const at = placeOf(tag)
    return at === null ? absent : entries.getUint16(at + 8, little)
  }
  const bits = placeOf(tags.bits)
  if (bits === null || valueOf(tags.photometric, 0) !== 2 || valueOf(tags.samples, 1) !== 4) return null
  if (valueOf(tags.planes, 1) !== 1 || valueOf(tags.predictor, 1) !== 1) return null
  const list = entries.getUint32(bits + 8, little)
  if (entries.getUint32(bits + 4, little) !== 4 || list + 8 > view.byteLength) return null
  if (![0, 2, 4, 6].every((at) => view.getUint16(list + at, little) === 4)) return null
  entries.setUint32(bits + 4, 1, little)
  entries.setUint16(bits + 8, 16, little)
  entries.setUint16(placeOf(tags.samples)! + 8, 1, little)
  entries.setUint16(placeOf(tags.photometric)! + 8, 1, little)
  return { bytes, filter: quartersOf(little) }
}

/** In the order of the file: red and green share the first byte, blue and alpha the second. */
const quartersOf = (little: boolean): string => {
  const quarters = little ? [16, 1, 4096, 256] : [4096, 256, 16, 1]
  return [
    'split=4[one][two][three][four]',
    ...['one', 'two', 'three', 'four'].map(
      (name, at) => `[${name}]lut=y=mod(floor(val/${quarters[at]})\\,16)*4369[${name}4]`,
    ),
    '[two4][three4][one4][four4]mergeplanes=0x00102030:gbrap16',
  ].join(';')
}
