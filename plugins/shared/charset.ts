import type { Encoding } from '../../core/ports/file-content.ts'
import { decodeAs, detectEncoding } from './detect-encoding.ts'
import { decodeKorean } from './korean.ts'
import { decodeUtf32, markedEncoding, wideEncoding } from './wide-encoding.ts'

/** A text and its original encoding. */
export interface Decoded {
  readonly text: string
  readonly encoding: Encoding
}

/** Only a page declares its encoding itself, and only a whole text never ends inside a character. */
export type Written = 'page' | 'text' | 'cut text'

/** The text of a page in any encoding. */
export const decodePage = (bytes: Uint8Array, contentType: string): string => decodeBytes(bytes, contentType).text

/**
 * The text of a page or file. A byte order mark decides first, then the type (`text/plain;charset=koi8-r`), then the
 * declaration in a page or XML, then valid UTF-8. Any other encoding is detected.
 */
export const decodeBytes = (bytes: Uint8Array, contentType: string, kind: Written = 'page'): Decoded => {
  const wide = markedEncoding(bytes) ?? wideEncoding(bytes)
  if (wide) return { text: decoded(bytes, wide.name), encoding: wide }
  for (const label of [typed(contentType), kind === 'page' ? textOf(bytes) : null]) {
    if (label === null) continue
    const text = stated(bytes, label)
    if (text !== null) return { text, encoding: { name: label, confidence: 1 } }
  }
  const escaped = isEscaped(bytes)
  if (escaped) return { text: decoded(bytes, 'iso-2022-jp'), encoding: { name: 'iso-2022-jp', confidence: 0.99 } }
  const text = utf8(bytes, kind !== 'text')
  if (text !== null) return { text, encoding: { name: 'utf-8', confidence: 1 } }
  const damaged = damagedUtf8(bytes)
  if (damaged !== null) return { text: damaged, encoding: { name: 'utf-8', confidence: 0.9 } }
  const encoding = detectEncoding(bytes)
  return { text: decoded(bytes, encoding.name), encoding }
}

/** Bytes of an encoding by its name, as browsers read them. */
export const decoded = (bytes: Uint8Array, name: string): string => {
  if (name === 'euc-kr') return decodeKorean(bytes)
  return name.startsWith('utf-32') ? decodeUtf32(bytes, name) : decodeAs(bytes, name)
}

/** Null when the bytes are not UTF-8. What is cut may end inside a character. */
const utf8 = (bytes: Uint8Array, cut = true): string | null => {
  try {
    // Streaming would take a slower decoder of Node, whose text has two bytes for each character.
    return new TextDecoder('utf-8', { fatal: true }).decode(cut ? wholeCharacters(bytes) : bytes)
  } catch {
    return null
  }
}

/** The bytes without a last character that is cut. */
const wholeCharacters = (bytes: Uint8Array): Uint8Array => {
  let lead = bytes.length - 1
  while (lead > bytes.length - 4 && lead > 0 && (bytes[lead]! & 0xc0) === 0x80) lead--
  const first = bytes[lead] ?? 0
  const length = first < 0xc0 || first > 0xf4 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  return lead + length > bytes.length ? bytes.subarray(0, lead) : bytes
}

/** For each broken character of UTF-8, so many of several bytes are whole. In other encodings hardly any is. */
const wholeForBroken = 5

/** UTF-8 with a few broken characters, which become U+FFFD; null for other bytes. */
const damagedUtf8 = (bytes: Uint8Array): string | null => {
  const text = new TextDecoder().decode(bytes)
  let [whole, broken] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0xfffd) broken++
    else if (code > 0x7f) whole++
  }
  return whole >= broken * wholeForBroken ? text : null
}

/** The encoding in a content type. */
const typed = (contentType: string): string | null =>
  encodingOf(/;\s*charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType)?.[1])

/** The encoding that a page or XML file declares in its head. */
const textOf = (bytes: Uint8Array): string | null => {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('latin1')
  const inside =
    /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1] ??
    /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1]
  // The head was readable as single bytes, so the page is not UTF-16, even if it says so.
  return encodingOf(inside && /^utf-?16/i.test(inside) ? 'utf-8' : inside)
}

/** Null when Node does not know the label. */
const encodingOf = (label: string | undefined): string | null => {
  try {
    return label === undefined ? null : new TextDecoder(label).encoding
  } catch {
    return null
  }
}

/** Null when the text should be UTF-8 and is not. */
const stated = (bytes: Uint8Array, name: string): string | null =>
  name === 'utf-8' ? utf8(bytes) : decoded(bytes, name)

/** True when 7-bit text switches to Japanese and back, as mails do. */
const isEscaped = (bytes: Uint8Array): boolean => {
  const at = bytes.indexOf(0x1b)
  if (at < 0 || bytes.some((byte) => byte > 0x7f)) return false
  return /\x1b\$[@B][\x21-\x7e]{2}/.test(Buffer.from(bytes.subarray(at, at + 4096)).toString('latin1'))
}
