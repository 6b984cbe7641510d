export interface Size {
  readonly width: number
  readonly height: number
}

export type ImageKind = 'png' | 'jpeg' | 'webp' | 'gif' | 'bmp'

/** What the first bytes of a file say of its size; null when it is not of this kind, or is cut off before it says. */
export const imageSize = (kind: ImageKind, bytes: Uint8Array): Size | null => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const size = readers[kind](bytes, view)
    return size && size.width > 0 && size.height > 0 ? size : null
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const word = (bytes: Uint8Array, at: number, length = 4) => String.fromCharCode(...bytes.subarray(at, at + length))

const readers: Readonly<Record<ImageKind, (bytes: Uint8Array, view: DataView) => Size | null>> = {
  png: (bytes, view) =>
    word(bytes, 0, 8) === '\x89PNG\r\n\x1a\n' && word(bytes, 12) === 'IHDR'
      ? { width: view.getUint32(16), height: view.getUint32(20) }
      : null,

  gif: (bytes, view) =>
    /^GIF8[79]a$/.test(word(bytes, 0, 6)) ? { width: view.getUint16(6, true), height: view.getUint16(8, true) } : null,

  bmp: (bytes, view) => {
    if (word(bytes, 0, 2) !== 'BM') return null
    // The oldest kind counts in two bytes; in the others a negative height means from top to bottom.
    if (view.getUint32(14, true) === 12) return { width: view.getUint16(18, true), height: view.getUint16(20, true) }
    return { width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) }
  },

  jpeg: (_, view) => {
    if (view.getUint16(0) !== 0xffd8) return null
    for (let at = 2; ;) {
      if (view.getUint8(at) !== 0xff) return null
      const marker = view.getUint8(at + 1)
      if (marker === 0xff) {
        at++
        continue
      }
      // Start of frame, of whichever coding; C4, C8 and CC are tables.
      if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
        return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
      }
      if (marker === 0xd9 || marker === 0xda) return null
      const alone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)
      at += alone ? 2 : 2 + view.getUint16(at + 2)
    }
  },

  webp: (bytes, view) => {
    if (word(bytes, 0) !== 'RIFF' || word(bytes, 8) !== 'WEBP') return null
    switch (word(bytes, 12)) {
      case 'VP8 ':
        if (word(bytes, 23, 3) !== '\x9d\x01\x2a') return null
        return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
      case 'VP8L': {
        if (view.getUint8(20) !== 0x2f) return null
        const bits = view.getUint32(21, true)
        return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
      }
      case 'VP8X': {
        const three = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 65536
        return { width: three(24) + 1, height: three(27) + 1 }
      }
      default:
        return null
    }
  },
}
