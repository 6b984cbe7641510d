import t from 'tap'
import { columnWidths } from '../../../../plugins/tools/createFileForUser/pdf.ts'

const rowOf = (...cells: readonly string[]) => cells.map((text) => [{ text }])

t.test('columns are as wide as their cells, or in proportion where that is too much', async (t) => {
  const narrow = columnWidths([rowOf('a', 'b')], 9, 400)
  t.same(narrow, [18, 18])
  const wide = columnWidths([rowOf('a', 'many words '.repeat(40), 'more words '.repeat(40))], 9, 400)
  t.equal(Math.round(wide.reduce((sum, width) => sum + width, 0)), 400)
  t.ok(wide[0]! >= 18 && wide[1]! > 100)
})

t.test('so many columns that the narrowest do not fit share the page', async (t) => {
  for (const cells of [Array.from({ length: 20 }, () => 'a'), Array.from({ length: 20 }, () => 'a long cell')]) {
    const widths = columnWidths([rowOf(...cells)], 9, 340)
    t.ok(
      widths.every((width) => width > 0),
      widths.join(),
    )
    t.ok(widths.reduce((sum, width) => sum + width, 0) <= 340.001)
  }
})
