import { isUtf8 } from 'node:buffer'
import { Unreadable } from '../../errors.ts'
import { cutSections, mostText, type Written } from './document-writing.ts'
import { decodePage } from '../pages/page-charset.ts'

export const readPlain = (bytes: Uint8Array): Written => ({
  title: null,
  ...cutSections([{ heading: null, text: decodeText(bytes).trim() }], mostText),
})

/** UTF-16 with its mark, UTF-8, or else Windows-1252; somewhat more than the text that is kept. Throws Unreadable for what is no text. */
export const decodeText = (bytes: Uint8Array): string => {
  const charset = isUtf8(bytes) ? 'utf-8' : 'windows-1252'
  const text = decodePage(bytes.subarray(0, 5 * mostText), `text/plain;charset=${charset}`)
  const strange = text.match(/[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd]/g)?.length ?? 0
  if (text.includes('\0') || strange > text.length / 500) throw new Unreadable()
  return text.replace(/\r\n?/g, '\n').replace(/[\x00-\x08\x0b\x0e-\x1f]/g, '')
}
