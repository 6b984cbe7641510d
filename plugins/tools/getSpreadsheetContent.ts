import * as v from 'valibot'
import { readSheets } from '../../core/extract/tables/sheets.ts'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(100)) })

const most = { values: 20_000, characters: 400_000 }

export default plugin({
  port: Tool,
  name: 'getSpreadsheetContent',
  create: (): Tool<typeof params> => ({
    name: 'getSpreadsheetContent',
    description:
      'The cells of a spreadsheet (xlsx, xlsb, xls, ods, csv, tsv), sheet by sheet and row by row: formulas as their results, or as they are written where the file has none, dates as ISO 8601, percentages as fractions. rowCount and columnCount tell how large a sheet is when its rows are truncated.',
    kind: 'reads-file',
    params,
    async run(_params, signal, file) {
      signal.throwIfAborted()
      return readSheets(file, signal, most)
    },
  }),
})
