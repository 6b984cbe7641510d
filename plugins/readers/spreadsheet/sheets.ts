import type { Sheets } from '../../../core/ports/file-content.ts'
import type { FileToRead, SheetPart } from '../../../core/ports/reader.ts'
import { apart } from '../../shared/run-apart.ts'
import type { Most } from '../shared/data-cut.ts'
import type { Asked } from './sheets-job.ts'
import { mostRead } from '../shared/most-read.ts'

/**
 * The cells of an xlsx, xlsb, xls, ods, csv or tsv. A large workbook gives the beginning of every sheet. Throws
 * Unreadable when the file is no spreadsheet or needs a password.
 */
export const readSheets = (
  { name, mime, bytes }: FileToRead,
  signal: AbortSignal,
  most: Most = mostRead,
  part: SheetPart = {},
): Promise<Sheets> => {
  const asked: Asked = { name, mime, bytes, most, part }
  return apart<Sheets>('readers/spreadsheet/sheets-job', asked, signal)
}
