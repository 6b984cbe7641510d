import { besideOdf } from '../shared/beside-odf.ts'
import { besideOoxml } from '../shared/beside-ooxml.ts'
import type { ContentLimits } from '../shared/content-cutter.ts'
import { fitSheets, type Grid } from './sheets-fit.ts'
import { readDelimited } from './sheets-text.ts'
import { readWorkbook } from './sheets-workbook.ts'
import type { Sheets } from '../../../core/ports/file-content.ts'
import type { FileToRead, SheetPart } from '../../../core/ports/reader.ts'
import { chosenSheets, rangeOf } from './sheets-part.ts'

/** What the process of the parser gets. */
export interface SheetsJob extends FileToRead {
  readonly most: ContentLimits
  readonly part: SheetPart
}

/** A file that is no workbook is read as text with delimiters. */
export default async ({ most, part, ...file }: SheetsJob): Promise<Sheets> => {
  const { sheet, range } = part
  const inPart = (grids: readonly Grid[]) => chosenSheets(grids, sheet).map((grid) => rangeOf(grid, range))
  const book = await readWorkbook(file.bytes)
  if (book) {
    const beside = book.format === 'ods' ? besideOdf : /^xls[xm]$/.test(book.format) ? besideOoxml : null
    return { ...fitSheets(book.format, inPart(book.grids), most), ...(await beside?.(file.bytes)) }
  }
  const { format, grid, encoding } = await readDelimited(file, most.values, range)
  return { ...fitSheets(format, inPart([grid]), most), encoding }
}
