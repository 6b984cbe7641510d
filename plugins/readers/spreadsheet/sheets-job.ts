import { besideOdf } from '../shared/beside-odf.ts'
import { besideOoxml } from '../shared/beside-ooxml.ts'
import type { Most } from '../shared/data-cut.ts'
import { fitSheets } from './sheets-fit.ts'
import { readDelimited } from './sheets-text.ts'
import { readWorkbook } from './sheets-workbook.ts'
import type { Sheets } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'

export default async ({ most, ...file }: FileToRead & { readonly most: Most }): Promise<Sheets> => {
  const book = await readWorkbook(file.bytes)
  if (book) {
    const beside = book.format === 'ods' ? besideOdf : /^xls[xm]$/.test(book.format) ? besideOoxml : null
    return { ...fitSheets(book.format, book.grids, most), ...(await beside?.(file.bytes)) }
  }
  const { format, grid, encoding } = await readDelimited(file, most.values)
  return { ...fitSheets(format, [grid], most), encoding }
}
