import type { Most } from '../tables/data-cut.ts'
import { fitSheets } from '../tables/sheets-fit.ts'
import { readDelimited } from '../tables/sheets-text.ts'
import { readWorkbook } from '../tables/sheets-workbook.ts'
import type { SheetFile, Sheets } from '../tables/sheets.ts'

export default async ({ most, ...file }: SheetFile & { readonly most: Most }): Promise<Sheets> => {
  const book = await readWorkbook(file.bytes)
  if (book) return fitSheets(book.format, book.grids, most)
  const { format, grid } = await readDelimited(file, most.values)
  return fitSheets(format, [grid], most)
}
