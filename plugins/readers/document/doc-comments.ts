import { shortened } from '../shared/beside.ts'
import { withoutMarks } from './doc-characters.ts'
import { listAt } from './doc-formats.ts'
import { isOld } from './doc-pieces.ts'

export interface Comment {
  /** Null when the file names none. */
  readonly author: string | null
  readonly text: string
}

/** In the header: the places of the list of references, of the list of texts and of the names of authors. */
const lists = { references: 0xba, texts: 0xc2, authors: 0x1ba } as const

/** In bytes: a reference to a comment, and the place of its author's number in it. */
const reference = { bytes: 30, author: 20 } as const

/** The largest number of comments, and of their authors. */
const most = 1_000

/**
 * The comments of a document since Word 97; `said` is the text of them all. Null for older versions, and where the list of
 * texts is missing or broken.
 */
export const commentsOf = (main: Buffer, table: Buffer | null, whole: string): readonly Comment[] | null => {
  if (isOld(main) || table === null) return null
  const texts = listAt(main, table, lists.texts)
  const references = listAt(main, table, lists.references)
  const authors = namesIn(listAt(main, table, lists.authors))
  const referred = Math.floor((references.length - 4) / (4 + reference.bytes))
  const comments: Comment[] = []
  // Behind the start of each comment stand two ends: that of the last comment, and that of the part.
  const count = Math.min(most, Math.floor(texts.length / 4) - 2)
  if (count < 1) return null
  for (let at = 0; at < count; at++) {
    const [from, to] = [texts.readUInt32LE(4 * at), texts.readUInt32LE(4 * at + 4)]
    if (from > to || to > whole.length) return null
    const text = shortened(withoutMarks(whole.slice(from, to)))
    const place = 4 * (referred + 1) + reference.bytes * at + reference.author
    const author = at < referred ? authors[references.readUInt16LE(place)] : undefined
    if (text !== '') comments.push({ author: author || null, text })
  }
  return comments
}

/** Names in UTF-16, each behind its length in characters. */
const namesIn = (list: Buffer): readonly string[] => {
  const names: string[] = []
  for (let at = 0; at + 2 <= list.length && names.length < most;) {
    const end = at + 2 + 2 * list.readUInt16LE(at)
    names.push(end > list.length ? '' : shortened(list.toString('utf16le', at + 2, end)))
    at = end
  }
  return names
}
