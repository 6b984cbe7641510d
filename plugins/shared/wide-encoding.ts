import type { Encoding } from '../../core/ports/file-content.ts'

/** Longer marks stand first, since the mark of UTF-32LE begins with that of UTF-16LE. */
const marks = [
  { start: [0xef, 0xbb, 0xbf], name: 'utf-8' },
  { start: [0xff, 0xfe, 0, 0], name: 'utf-32le' },
  { start: [0, 0, 0xfe, 0xff], name: 'utf-32be' },
  { start: [0xfe, 0xff], name: 'utf-16be' },
  { start: [0xff, 0xfe], name: 'utf-16le' },
]

/** The encoding of the byte order mark; null without one. */
export const markedEncoding = (bytes: Uint8Array): Encoding | null => {
  const mark = marks.find(({ start }) => start.every((byte, at) => bytes[at] === byte))
  return mark ? { name: mark.name, confidence: 1 } : null
}

/** In bytes: the examined part of a text. */
const longestSample = 65_536

/** UTF-16 or UTF-32 without a mark, recognised by zero bytes. Null when the bytes have no zeros or are not text. */
export const wideEncoding = (bytes: Uint8Array): Encoding | null => {
  const sample = bytes.subarray(0, longestSample - (longestSample % 4))
  if (!sample.includes(0)) return null
  if (bytes.length % 4 === 0) {
    for (const name of ['utf-32le', 'utf-32be'])
      if (isText(decodeUtf32(sample, name))) return { name, confidence: 0.99 }
  }
  if (bytes.length % 2 !== 0) return null
  const zeros = { even: 0, odd: 0 }
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2 === 0 ? 'even' : 'odd']++
  const name = zeros.even > zeros.odd ? 'utf-16be' : 'utf-16le'
  const [less, more] = [Math.min(zeros.even, zeros.odd), Math.max(zeros.even, zeros.odd)]
  if (less * 4 > more || !isText(new TextDecoder(name).decode(sample, { stream: true }))) return null
  return { name, confidence: 0.95 }
}

/** True when almost all characters are letters, digits, blanks or printed signs. */
const isText = (text: string): boolean => {
  const strange = text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd\ufffe\uffff\p{Co}\p{Cn}\p{Cs}]/gu)
  return text !== '' && (strange?.length ?? 0) <= text.length / 500
}

/** Decodes UTF-32, which Node does not know. Invalid code points become U+FFFD. */
export const decodeUtf32 = (bytes: Uint8Array, name: string): string => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: string[] = []
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, name === 'utf-32le')
    const sound = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    if (at > 0 || code !== 0xfeff) parts.push(sound ? String.fromCodePoint(code) : '\ufffd')
  }
  return parts.join('')
}
