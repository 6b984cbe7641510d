import type { DocumentSection } from '../../../core/ports/file-content.ts'

/** A stretch that `from` and `to` can choose. */
export interface Piece extends DocumentSection {
  /** From 1; a section that is long counts as several. */
  readonly number: number
}

/** Characters of the longest piece. */
const mostPieceCharacters = 40_000

/** The sections of a document in pieces that can be asked for; a long section is parted at the end of a line. */
export const piecesOf = (sections: readonly DocumentSection[]): readonly Piece[] => {
  const pieces: Piece[] = []
  for (const { heading, text } of sections) {
    let at = 0
    do {
      const end = endOf(text, at)
      pieces.push({ number: pieces.length + 1, heading, text: text.slice(at, end) })
      at = end
    } while (at < text.length)
  }
  return pieces
}

/** Behind the last line end in the second half of a piece, else at its bound; a surrogate pair is never split. */
const endOf = (text: string, at: number): number => {
  if (text.length - at <= mostPieceCharacters) return text.length
  const line = text.lastIndexOf('\n', at + mostPieceCharacters - 1) + 1
  if (line > at + mostPieceCharacters / 2) return line
  const end = at + mostPieceCharacters
  return /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? end - 1 : end
}

/** Pieces that an outline tells at most. */
const mostTold = 2_000

/** What there is to ask for: the number, the heading and the size of each piece. */
export const outlineOf = (pieces: readonly Piece[]) =>
  pieces.slice(0, mostTold).map(({ number, heading, text }) => ({
    number,
    heading: heading === null ? null : heading.slice(0, 200),
    characters: text.length,
  }))
