import { plugin } from '../../core/plugin.ts'
import { Reader, type FileToRead, type SheetPart } from '../../core/ports/reader.ts'
import { kindOf } from './shared/file-kind.ts'
import { defaultLimits } from './shared/default-limits.ts'
import type { Sheets } from '../../core/ports/file-content.ts'
import { runApart } from '../shared/run-apart.ts'
import type { ContentLimits } from './shared/content-cutter.ts'
import type { SheetsJob } from './spreadsheet/sheets-job.ts'

/** Spreadsheets: xlsx, xlsb, xls, ods, csv and tsv. */
export default plugin({
  port: Reader,
  name: 'spreadsheet',
  create: (): Reader<'spreadsheet'> => ({
    name: 'spreadsheet',
    kind: 'spreadsheet',
    fits: (file) => kindOf(file) === 'spreadsheet',
    async read(file, signal, { characters, values, sheet, range } = {}) {
      signal.throwIfAborted()
      const most = { values: values ?? defaultLimits.values, characters: characters ?? defaultLimits.characters }
      const part = { ...(sheet !== undefined && { sheet }), ...(range !== undefined && { range }) }
      const content = await readSheets(file, signal, most, part)
      const sections = content.sheets.map(({ name, rows }) => ({
        text: rows.map((row) => row.map((cell) => cell ?? '').join(' | ')).join('\n'),
        heading: name,
        page: null,
      }))
      return { content, sections }
    },
  }),
})

/** The cells of a file; a large one gives the beginning of every sheet. Throws Unreadable for no such file, or a password. */
export const readSheets = (
  { name, mime, bytes }: FileToRead,
  signal: AbortSignal,
  most: ContentLimits = defaultLimits,
  part: SheetPart = {},
): Promise<Sheets> => {
  const job: SheetsJob = { name, mime, bytes, most, part }
  return runApart<Sheets>('readers/spreadsheet/sheets-job', job, signal)
}
