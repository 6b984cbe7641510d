import * as v from 'valibot'
import { readerOfKind } from '../../core/find-reader.ts'
import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(100), v.description('The id of an uploaded file')) })

const most = { values: 20_000, characters: 400_000 }

export default plugin({
  port: Tool,
  name: 'getSpreadsheetContent',
  needs: { readers: Reader },
  create: ({ readers }): Tool<typeof params> => ({
    name: 'getSpreadsheetContent',
    description:
      'The cells of a spreadsheet (xlsx, xlsb, xls, ods, csv, tsv), sheet by sheet and row by row: formulas as their results, or as they are written where the file has none, dates as ISO 8601, percentages as fractions. rowCount and columnCount tell how large a sheet is when its rows are truncated; rowNumbers, where rows were left out, which row of the file each one is; hidden, hiddenRows and hiddenColumns what the file hides.',
    kind: 'reads-file',
    params,
    async run(_params, signal, file) {
      signal.throwIfAborted()
      const { content } = await readerOfKind(readers, 'spreadsheet', file).read(file, signal, most)
      return content
    },
  }),
})
