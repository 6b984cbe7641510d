import type { Encoding } from '../../core/ports/file-content.ts'
import { decodeAs, detectEncoding } from './detect-encoding.ts'
import { decodeUtf32, markedEncoding, wideEncoding } from './wide-encoding.ts'

/** A text, and the encoding that it was in. */
export interface Decoded {
  readonly text: string
  readonly encoding: Encoding
}

/** The text of a page in any encoding. */
export const decodePage = (bytes: Uint8Array, contentType: string): string => decodeBytes(bytes, contentType).text

/**
 * The text of a page or a file. A mark counts most, then the type (`text/plain;charset=koi8-r`), then what the file says of
 * itself (pages and XML alone do), then UTF-8 where it can be. The encoding of everything else is detected.
 */
export const decodeBytes = (bytes: Uint8Array, contentType: string, kind: 'page' | 'text' = 'page'): Decoded => {
  const wide = markedEncoding(bytes) ?? wideEncoding(bytes)
  if (wide) return { text: decoded(bytes, wide.name), encoding: wide }
  for (const label of [typed(contentType), kind === 'text' ? null : said(bytes)]) {
    if (label === null) continue
    const text = stated(bytes, label)
    if (text !== null) return { text, encoding: { name: label, confidence: 1 } }
  }
  const escaped = isEscaped(bytes)
  if (escaped) return { text: decoded(bytes, 'iso-2022-jp'), encoding: { name: 'iso-2022-jp', confidence: 0.99 } }
  const text = utf8(bytes, kind === 'page')
  if (text !== null) return { text, encoding: { name: 'utf-8', confidence: 1 } }
  const encoding = detectEncoding(bytes)
  return { text: decoded(bytes, encoding.name), encoding }
}

const decoded = (bytes: Uint8Array, name: string): string =>
  name.startsWith('utf-32') ? decodeUtf32(bytes, name) : decodeAs(bytes, name)

/** Null for bytes that are no UTF-8. A page that was cut may end within a character. */
const utf8 = (bytes: Uint8Array, cut = true): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
  } catch {
    return null
  }
}

/** The name of the encoding that a type carries. */
const typed = (contentType: string): string | null =>
  encodingOf(/;\s*charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType)?.[1])

/** The name of the encoding that a page or an XML file names in its head. */
const said = (bytes: Uint8Array): string | null => {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('latin1')
  const inside =
    /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1] ??
    /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1]
  // A page that was readable so far is not in UTF-16, though it may claim so.
  return encodingOf(inside && /^utf-?16/i.test(inside) ? 'utf-8' : inside)
}

/** Null for a label that Node knows no encoding for. */
const encodingOf = (label: string | undefined): string | null => {
  try {
    return label === undefined ? null : new TextDecoder(label).encoding
  } catch {
    return null
  }
}

/** Null where a text is stated to be UTF-8 and is not. */
const stated = (bytes: Uint8Array, name: string): string | null =>
  name === 'utf-8' ? utf8(bytes) : decodeAs(bytes, name)

/** Whether a text of seven bits changes to Japanese and back, as mails do. */
const isEscaped = (bytes: Uint8Array): boolean => {
  const at = bytes.indexOf(0x1b)
  if (at < 0 || bytes.some((byte) => byte > 0x7f)) return false
  return /\x1b\$[@B][\x21-\x7e]{2}/.test(Buffer.from(bytes.subarray(at, at + 4096)).toString('latin1'))
}
