import { changesOf, finder, formatPages, type Span } from './doc-formats.ts'
import { isOld } from './doc-pieces.ts'

/** What the format of a paragraph says, by the place of any of its bytes in the stream. */
export interface Paragraphs {
  /** Null when the paragraph is no heading. */
  headingAt(place: number): number | null
  inTable(place: number): boolean
  endsRow(place: number): boolean
}

interface Format extends Span {
  readonly style: number
  readonly inTable: boolean
  readonly endsRow: boolean
}

/** Formats of paragraphs since Word 97; older versions have none here. A broken table means plain paragraphs. */
export const paragraphsOf = (main: Buffer, table: Buffer | null): Paragraphs => {
  const formats = isOld(main) || table === null ? [] : formatsIn(main, table)
  const at = finder(formats)
  return {
    headingAt(place) {
      const style = at(place)?.style ?? 0
      return style >= 1 && style <= 9 ? style : null
    },
    inTable: (place) => at(place)?.inTable === true,
    endsRow: (place) => at(place)?.endsRow === true,
  }
}

/** Each page of 512 bytes ends with the number of its entries. */
const formatsIn = (main: Buffer, table: Buffer): Format[] => {
  const formats: Format[] = []
  for (const page of formatPages(main, table, 0x102)) {
    const count = page[511]!
    if (4 * (count + 1) + 13 * count > 511) continue
    for (let at = 0; at < count; at++) {
      const [from, to] = [page.readUInt32LE(4 * at), page.readUInt32LE(4 * at + 4)]
      formats.push({ from, to, ...changesIn(page, 2 * page[4 * (count + 1) + 13 * at]!) })
    }
  }
  return formats
}

/** Changes of a paragraph that say where it stands: in a table, and at the end of a row. */
const changes = { inTable: 0x2416, endsRow: 0x2417 }

/** The style and changes of one entry on a page; place 0 means a plain paragraph. */
const changesIn = (page: Buffer, at: number) => {
  const found = { style: 0, inTable: false, endsRow: false }
  if (at === 0) return found
  const padded = page[at] === 0
  const start = at + (padded ? 2 : 1)
  const end = start + 2 * (page[padded ? at + 1 : at] ?? 0) - (padded ? 0 : 1)
  if (start + 2 > Math.min(511, end)) return found
  found.style = page.readUInt16LE(start)
  for (const { change, value } of changesOf(page, start + 2, end)) {
    if (change === changes.inTable) found.inTable = value === 1
    if (change === changes.endsRow) found.endsRow = value === 1
  }
  return found
}
