import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'
import { kindOf } from './shared/file-kind.ts'
import { defaultLimits } from './shared/default-limits.ts'
import { readSheets } from './spreadsheet/sheets.ts'

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
