import { Unreadable } from '../../../core/errors.ts'
import type { Document } from '../../../core/ports/file-content.ts'
import { cutSections } from '../../shared/cut-sections.ts'
import { mostText, type WrittenDocument } from '../shared/document-writing.ts'
import { type Decoded, decodeBytes } from '../../shared/charset.ts'

/** A whole text as one section. Throws Unreadable when the bytes are not text. */
export const readPlain = (bytes: Uint8Array, mime: string): WrittenDocument & Pick<Document, 'encoding'> => {
  const { text, encoding } = decodeText(bytes, mime)
  return { title: null, encoding, ...cutSections([{ heading: null, text: text.trim() }], mostText) }
}

/** Decodes a little more text than is kept. Throws Unreadable when the bytes are not text. */
export const decodeText = (bytes: Uint8Array, mime: string): Decoded => {
  // Only pages and XML declare their encoding; in plain text such a declaration may be an example.
  const kept = bytes.subarray(0, 5 * mostText)
  const { text, encoding } = decodeBytes(kept, mime, kept.length < bytes.length ? 'cut text' : 'text')
  const controls = text.match(/[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]/g)?.length ?? 0
  const broken = text.match(/\ufffd/g)?.length ?? 0
  // UTF-8 that others damaged is text still; in other encodings, U+FFFD shows that the encoding is wrong.
  const strange = controls + (encoding.name === 'utf-8' ? broken / 250 : broken)
  if (text.includes('\0') || strange > text.length / 500) throw new Unreadable()
  return { text: text.replace(/\r\n?/g, '\n').replace(/[\x00-\x08\x0b\x0e-\x1f]/g, ''), encoding }
}
