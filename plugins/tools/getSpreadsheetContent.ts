import * as v from 'valibot'
import { BadRequest } from '../../core/errors.ts'
import { readerOfKind } from '../shared/find-reader.ts'
import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'
import { Tool } from '../../core/ports/tool.ts'
import { parseRange, rangePattern } from './getSpreadsheetContent/range.ts'

const params = v.object({
  fileId: v.pipe(v.string(), v.maxLength(100), v.description('The id of an uploaded file')),
  sheet: v.optional(
    v.pipe(v.string(), v.maxLength(200), v.description('The name of one sheet, or its number from 1; all when absent')),
  ),
  range: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(40),
      v.regex(rangePattern),
      v.description('Cells (B2:F40), rows (200:399, 200:) or columns (A:D); all when absent'),
    ),
  ),
})

/** Cells and characters: more would fill a model's context. */
const contentLimits = { values: 20_000, characters: 400_000 }

export default plugin({
  port: Tool,
  name: 'getSpreadsheetContent',
  needs: { readers: Reader },
  create: ({ readers }): Tool<typeof params> => ({
    name: 'getSpreadsheetContent',
    description:
      'The cells of a spreadsheet (xlsx, xlsb, xls, ods, csv, tsv), by sheet and row. Formulas come as results, or as written where there is none, dates as ISO 8601, and percentages as fractions. rowCount and columnCount tell how large a truncated sheet is: `sheet` and `range` read on. Where rows were left out, rowNumbers are those of the file. firstColumn is the first requested column. hidden, hiddenRows and hiddenColumns tell the hidden parts.',
    kind: 'reads-file',
    params,
    async run({ sheet, range }, signal, file) {
      signal.throwIfAborted()
      const part = { ...(sheet !== undefined && { sheet }), ...(range !== undefined && { range: rangeAsked(range) }) }
      const { content } = await readerOfKind(readers, 'spreadsheet', file).read(file, signal, {
        ...contentLimits,
        ...part,
      })
      if (sheet === undefined || content.sheets.length > 0) return content
      throw new BadRequest('No such sheet', { validator: { sheet: 'Expected the name of a sheet, or its number' } })
    },
  }),
})

/** Throws BadRequest for a range that ends before it begins. */
const rangeAsked = (text: string) => {
  const range = parseRange(text)
  if (range !== null) return range
  throw new BadRequest('No such range', { validator: { range: 'Expected a first cell before the last one' } })
}
