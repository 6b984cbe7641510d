import { Unreadable } from '../../errors.ts'
import { decodePage } from '../pages/page-charset.ts'

/** The text of a file that is text, in whatever encoding. Throws Unreadable for what is no text or is empty. */
export const textOf = (bytes: Uint8Array): string => {
  const text = decodePage(bytes, '')
  if (text.trim() === '' || /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text.slice(0, 65_536))) throw new Unreadable()
  return text
}
