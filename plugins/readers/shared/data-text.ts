import { Unreadable } from '../../../core/errors.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { type Decoded, decodeBytes } from '../../shared/charset.ts'

/** Decodes a text file with the encoding of its type or bytes. Throws Unreadable when the file is empty or not text. */
export const readText = ({ bytes, mime }: Pick<FileToRead, 'bytes' | 'mime'>): Decoded => {
  const { text, encoding } = decodeBytes(bytes, mime)
  if (text.trim() === '' || /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text.slice(0, 65_536))) throw new Unreadable()
  return { text, encoding }
}
