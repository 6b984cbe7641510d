import type { Sheets } from '../../../core/ports/file-content.ts'
import type { FileToRead, SheetPart } from '../../../core/ports/reader.ts'
import { runApart } from '../../shared/run-apart.ts'
import type { ContentLimits } from '../shared/content-cutter.ts'
import type { SheetsJob } from './sheets-job.ts'
import { defaultLimits } from '../shared/default-limits.ts'

/**
 * The cells of an xlsx, xlsb, xls, ods, csv or tsv. A large workbook gives the beginning of every sheet. Throws
 * Unreadable when the file is no spreadsheet or needs a password.
 */
export const readSheets = (
  { name, mime, bytes }: FileToRead,
  signal: AbortSignal,
  most: ContentLimits = defaultLimits,
  part: SheetPart = {},
): Promise<Sheets> => {
  const job: SheetsJob = { name, mime, bytes, most, part }
  return runApart<Sheets>('readers/spreadsheet/sheets-job', job, signal)
}
