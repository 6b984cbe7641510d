import { changesOf, formatPages, type Span } from './doc-formats.ts'
import { isOld, type Piece } from './doc-pieces.ts'

/** Characters that are not shown, by their bytes in the stream. */
interface Unshown extends Span {
  readonly kind: 'deleted' | 'hidden'
}

/** Changes of characters: those that an author deleted, and those that are hidden. */
const changes: Readonly<Record<number, Unshown['kind']>> = { 0x0800: 'deleted', 0x083c: 'hidden' }

/** Characters that are not shown, since Word 97; older versions have none here. */
export const unshownOf = (main: Buffer, table: Buffer | null): readonly Unshown[] => {
  const spans: Unshown[] = []
  if (isOld(main) || table === null) return spans
  for (const page of formatPages(main, table, 0xfa)) {
    const count = page[511]!
    if (5 * count + 4 > 511) continue
    for (let at = 0; at < count; at++) {
      const place = 2 * page[4 * (count + 1) + at]!
      if (place === 0) continue
      const end = place + 1 + page[place]!
      for (const { change, value } of changesOf(page, place + 1, end)) {
        const kind = changes[change]
        if (kind && value === 1)
          spans.push({ kind, from: page.readUInt32LE(4 * at), to: page.readUInt32LE(4 * at + 4) })
      }
    }
  }
  return spans
}

/** The pieces with a filler in the place of characters that are not shown, and the hidden texts. */
export const shownPieces = (pieces: readonly Piece[], unshown: readonly Unshown[]) => {
  const hidden: string[] = []
  const shown = pieces.map((piece) => {
    const end = piece.place + piece.text.length * piece.width
    let text = piece.text
    for (const { from, to, kind } of unshown) {
      if (to <= piece.place || from >= end) continue
      const first = Math.max(0, Math.ceil((from - piece.place) / piece.width))
      const last = Math.min(text.length, Math.ceil((to - piece.place) / piece.width))
      const part = text.slice(first, last)
      if (kind === 'hidden') hidden.push(part)
      // Marks of paragraphs and fields stay, since the text around them depends on them.
      text = text.slice(0, first) + part.replace(/[^\x00-\x1f]/g, filler) + text.slice(last)
    }
    return { ...piece, text }
  })
  return { shown, hidden }
}

/** A character without a meaning in documents, which readers drop. */
const filler = '\x00'
