import '../../fakes/unwatched.ts'
import { basename } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import t from 'tap'
import * as v from 'valibot'
import { BadRequest, Unreadable } from '../../../core/errors.ts'
import { momentOf } from '../../../plugins/readers/spreadsheet/sheet-dates.ts'
import type { OpenFile } from '../../../core/ports/tool.ts'
import spreadsheet, { readSheets } from '../../../plugins/readers/spreadsheet.ts'
import getSpreadsheetContent from '../../../plugins/tools/getSpreadsheetContent.ts'
import { parseRange } from '../../../plugins/tools/getSpreadsheetContent/range.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { quietClock } from '../../slowness.ts'
import { bytesOf, madeOf, opened, params, toolOf } from './tried.ts'

const made = () => toolOf(spreadsheet, getSpreadsheetContent)
const soon = () => AbortSignal.timeout(60_000)
const stored = async (path: string) => opened(await bytesOf(path), basename(path), '')
const run = (file: OpenFile, more = {}) => madeOf(made(), file, more)
const text = (content: string) => opened(Buffer.from(content), 'some.csv', 'text/csv')
const rowsOf = async (content: string) => (await run(text(content))).sheets[0].rows

t.test('contract', async (t) => {
  const good = { params, file: await stored('xlsx/orders-two-sheets.xlsx') }
  const bad = { params, file: opened(Buffer.from('PK\x03\x04 and nothing more'), 'secret.xlsx') }
  await conform(t, tool.contract, () => ({ tool: made(), good, bad }))
})

const orders = [
  ['Bestellungen im Frühjahr'],
  [],
  ['Datum', 'Kunde', 'Artikel', 'Menge', 'Preis', 'Summe', 'Anteil', 'Bezahlt', 'Geliefert'],
  ['2024-02-29', 'Müller & Söhne', '00123', 3, 19.99, 59.97, 0.075, true, '2024-03-31T14:30:15'],
  ['2024-03-01', 'Ångström AB\nzweite Zeile', '1E5', -12.5, 1000, -12500, 1, false],
  [null, 'Summe', null, -9.5, '#DIV/0!', 'Müller & Söhne!'],
]
const times = [['Beginn', 'Dauer'], ['08:30:00', 'PT36H15M'], [], [null, null, null, 'weit unten']]

for (const format of ['xlsx', 'xls', 'ods'])
  t.test(`reads both sheets of an ${format}`, async (t) => {
    t.same(await run(await stored(`${format}/orders-two-sheets.${format}`)), {
      format,
      truncated: false,
      sheets: [
        { name: 'Bestellungen', rowCount: 6, columnCount: 9, truncated: false, rows: orders },
        { name: 'Zeiten', rowCount: 100, columnCount: 4, truncated: false, rowNumbers: [1, 2, 3, 100], rows: times },
      ],
    })
  })

t.test('tells which row is which, and what is hidden', async (t) => {
  for (const format of ['xlsx', 'xls'] as const) {
    const { sheets } = await run(await stored(`${format}/rich.${format}`))
    const [sales, kept] = sheets
    t.match(sales, { rowNumbers: [3, 4, 5, 6, 7, 17], hiddenRows: [5], hiddenColumns: ['C'] }, format)
    t.equal(sales.rows[sales.rowNumbers.indexOf(17)][1], 'far below', `${format}: B17`)
    t.notOk('hidden' in sales)
    t.match(kept, { name: 'Kept back', hidden: true }, format)
  }
})

t.test('reads days that are counted from 1904', async (t) => {
  const { sheets } = await run(await stored('xlsx/openpyxl-1904-dates-and-a-link.xlsx'))
  t.same(sheets[0].rows, [['2024-02-29', '2024-03-31T14:30:15', '08:30:00', 'PT36H15M', 'x', '=1+1'], ['link']])
})

t.test('reads text in the encodings and with the delimiters that programs write', async (t) => {
  const written = [
    ...orders.slice(0, 3),
    ['02/29/2024', 'Müller & Söhne', '00123', 3, 19.99, 59.97, '7.5%', 'TRUE', '2024-03-31 14:30:15'],
    ['03/01/2024', 'Ångström AB\nzweite Zeile', '1E5', -12.5, 1000, -12500, '100%', 'FALSE'],
    [null, 'Summe', null, -9.5, '#DIV/0!', 'Müller & Söhne!'],
  ]
  const files = ['csv/commas-windows-1252.csv', 'csv/semicolons-quoted-newline.csv', 'tsv/utf-16.tsv']
  for (const path of files) {
    const { format, sheets } = await run(await stored(path))
    t.same([format, sheets[0].rowCount, sheets[0].rows], [path.slice(0, 3), 6, written], path)
  }
  t.same(
    await rowsOf('\ufeffa|b\n1|2,5\n'),
    [
      ['a', 'b'],
      [1, '2,5'],
    ],
    'a mark, and bars',
  )
  t.same(
    await rowsOf('1,5;2,5\n3,5;4,5'),
    [
      ['1,5', '2,5'],
      ['3,5', '4,5'],
    ],
    'decimal commas',
  )
  t.same(
    await rowsOf('a,"b\nc,6\n'),
    [
      ['a', '"b'],
      ['c', 6],
    ],
    'a quote that nobody closes',
  )
  t.same(
    await rowsOf('€ ‚x‘,1.10,12345678901234567890'),
    [['€ ‚x‘', '1.10', '12345678901234567890']],
    'no number loses digits',
  )
  t.same(await rowsOf('one column\nof words'), [['one column'], ['of words']])
})

t.test('shows numbers as spreadsheets do, and formulas that nobody worked out as they are written', async (t) => {
  const cells = [
    '<c r="A1"><v>0.30000000000000004</v></c><c r="B1"><v>434.99999999999994</v></c><c r="C1"><v>9007199254740991</v></c>',
    '<c r="D1"><f>SUM(A1:B1)&amp;"ä"</f><v></v></c><c r="E1" s="0"><f>A1*2</f></c><c r="F1" t="str"><f>""</f><v></v></c>',
    '<c r="G1"><f>1+1</f><v>2</v></c>',
  ]
  const { sheets } = await run(opened(xlsx({ sums: `<row r="1">${cells.join('')}</row>` })))
  t.same(sheets[0].rows, [[0.3, 435, 9007199254740991, '=SUM(A1:B1)&"ä"', '=A1*2', null, 2]])
})

t.test('an ods says days before 1900, in any format, and the names of its sheets', async (t) => {
  const style = (name: string, within: string) =>
    `<number:date-style style:name="${name}">${within}</number:date-style><style:style style:name="c${name}" style:family="table-cell" style:data-style-name="${name}"/>`
  const day = (value: string, more = '') =>
    `<table:table-cell ${more} office:value-type="date" office:date-value="${value}"><text:p>x</text:p></table:table-cell>`
  const time = (value: string) =>
    `<table:table-cell office:value-type="time" office:time-value="${value}"><text:p>x</text:p></table:table-cell>`
  const cells = [
    day('1850-03-04'),
    day('1900-02-28'),
    day('2024-02-29', 'table:style-name="cN1"'),
    day('2024-03-31T14:30:15'),
    time('PT08H30M00S'),
    time('PT00H00M00S'),
    '<table:table-cell table:style-name="cN2" office:value-type="float" office:value="45361.0000810185"><text:p>x</text:p></table:table-cell>',
  ]
  const content = [
    '<office:document-content><office:automatic-styles>',
    style('N1', '<number:day/><number:text>. </number:text><number:month number:textual="true"/>').replace(
      '</number:date-style>',
      '</number:date-style><number:text-style style:name="N1"><number:text-content/></number:text-style>',
    ),
    style('N2', '<number:year/><number:month/><number:day/><number:hours/><number:minutes/>'),
    '</office:automatic-styles><office:body><office:spreadsheet><table:table table:name="Q1 &amp;amp; &lt;Q2&gt;"><table:table-row>',
    ...cells,
    '</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>',
  ]
  const files = { 'META-INF/manifest.xml': '<manifest/>', 'styles.xml': '<office:document-styles/>' }
  const { sheets } = await run(opened(zip({ ...files, 'content.xml': content.join('') })))
  t.equal(sheets[0].name, 'Q1 &amp; <Q2>')
  const [numbered] = sheets[0].rows[0].splice(6)
  t.same(sheets[0].rows, [['1850-03-04', '1900-02-28', '2024-02-29', '2024-03-31T14:30:15', '08:30:00', '00:00:00']])
  t.equal(numbered, '2024-03-10T00:00:07', 'a number of days, to the second')
})

t.test('a format whose brackets never close is read once', (t) => {
  const parts = { D: 45_361, T: 0, y: 2024, m: 3, d: 10, H: 0, M: 0, S: 0 }
  t.equal(momentOf(45_361, `yyyy${'['.repeat(1_000_000)}`, parts), '2024-03-10')
  t.end()
})

t.test('day 0 is a time in a format that shows one, and else the day that other programs show', (t) => {
  const parts = { D: 0, T: 0, y: 1900, m: 1, d: 0, H: 0, M: 0, S: 0 }
  t.equal(momentOf(0, 'hh:mm', parts), '00:00:00')
  t.equal(momentOf(0, 'yyyy-mm-dd hh:mm', parts), '00:00:00')
  t.equal(momentOf(0, 'mm-dd-yy', parts), '1899-12-30')
  t.equal(momentOf(0.5, 'd. mmmm', { ...parts, T: 43_200, H: 12 }), '1899-12-30T12:00:00')
  t.end()
})

t.test('refuses what is no spreadsheet', async (t) => {
  const odt = zip({ mimetype: 'x', 'META-INF/manifest.xml': '<a/>', 'content.xml': '<office:document-content/>' })
  const wrong = {
    empty: Buffer.alloc(0),
    binary: Buffer.from([1, 2, 3, 0, 5]),
    'a text document': odt,
    'a workbook without its sheet': xlsx({ first: null }),
    'half a workbook': (await stored('xlsx/orders-two-sheets.xlsx')).bytes.subarray(0, 4000),
    'half an old one': (await stored('xls/orders-two-sheets.xls')).bytes.subarray(0, 600),
  }
  for (const [what, bytes] of Object.entries(wrong)) await t.rejects(run(opened(bytes)), Unreadable, what)
})

t.test('shows the beginning of each sheet when all are too much', async (t) => {
  const rows = Array.from({ length: 12_000 }, (_, at) => row(at + 1, ['A', 'B'], 7)).join('')
  const { truncated, sheets } = await run(opened(xlsx({ long: rows, short: row(1, ['A'], 1), other: rows })))
  t.equal(truncated, true)
  t.same(
    sheets.map(({ name, rowCount, truncated, rows }: any) => [name, rowCount, truncated, rows.length]),
    [
      ['long', 12_000, true, 5000],
      ['short', 1, false, 1],
      ['other', 12_000, true, 5000],
    ],
  )
  const long = await run(text(`${'x'.repeat(500_000)},y\nz,z\n`))
  t.equal(long.sheets[0].rows.length, 1)
  t.match(long.sheets[0].rows[0], [/^x{400000}… 100000 more characters$/])
  t.same([long.truncated, long.sheets[0].rowCount], [true, 2])
  const indexed = await readSheets(text('1,22,333\n'.repeat(70_000)), soon())
  t.equal(indexed.sheets[0]!.rows.flat().length, 200_000, 'as much as is indexed')
})

t.test('gives the sheet and the range that are asked for', async (t) => {
  for (const format of ['xlsx', 'xls', 'ods']) {
    const file = await stored(`${format}/orders-two-sheets.${format}`)
    const { sheets, truncated } = await run(file, { sheet: 'bestellungen', range: 'B4:D5' })
    const rows = [['Müller & Söhne', '00123', 3], ['Ångström AB\nzweite Zeile', '1E5', -12.5]] // prettier-ignore
    t.equal(truncated, false)
    const about = { name: 'Bestellungen', rowCount: 6, columnCount: 9, truncated: false, firstColumn: 'B' }
    t.same(sheets, [{ ...about, rowNumbers: [4, 5], rows }], format)
    t.same((await run(file, { sheet: '2', range: '50:' })).sheets[0].rows, [[null, null, null, 'weit unten']], format)
    t.same(
      (await run(file, { range: 'z' })).sheets.map(({ rows }: any) => rows),
      [[], []],
      'nothing stands there',
    )
  }
  const long = text(Array.from({ length: 30_000 }, (_, at) => `a${at + 1};${at + 1}`).join('\n'))
  const first = await run(long)
  t.same([first.sheets[0].rows.length, first.truncated], [10_000, true])
  const next = (await run(long, { range: '10001:20000' })).sheets[0]
  t.same([next.rows[0], next.rows.at(-1), next.truncated], [['a10001', 10001], ['a20000', 20000], false])
  t.same([next.rowNumbers[0], next.rowNumbers.at(-1), next.rowCount], [10_001, 20_000, 30_000])
  t.equal((await run(long, { range: '100:' })).truncated, true)
  t.same((await run(long, { range: 'B29999:B29999' })).sheets[0].rows, [[29_999]])
  const odd = await run(long, { sheet: 'canary' }).catch((error: unknown) => error)
  t.match(odd, { status: 400, validator: { sheet: /^Expected/ } })
  await t.rejects(run(long, { range: '5:4' }), BadRequest)
})

t.test('a range is cells, rows or columns', (t) => {
  const all = Number.MAX_SAFE_INTEGER
  const told = (range: string) => {
    const { top, bottom, left, right } = parseRange(range)!
    return [top, bottom, left, right].map((value) => (value === all ? '…' : value))
  }
  t.same(told('B2:F40'), [2, 40, 2, 6])
  t.same(told('$aa$7'), [7, 7, 27, 27])
  t.same(told('200:'), [200, '…', 1, '…'])
  t.same(told('200:399'), [200, 399, 1, '…'])
  t.same(told('A:D'), [1, '…', 1, 4])
  t.same(told('C'), [1, '…', 3, 3])
  for (const none of ['', ':', '0:5', 'B2:A9', '9:1', 'sheet!A1']) t.equal(parseRange(none), null, none)
  for (const odd of ['A1:B2:C3', 'Sheet1!A1', '1,2', 'ABCD1']) t.notOk(v.safeParse(made().params, { ...params, range: odd }).success) // prettier-ignore
  t.end()
})

t.test('a sheet that claims millions of rows is as large as its cells', async (t) => {
  const sparse = `${row(1, ['A'], 1)}${row(1_048_576, ['XFD'], 2)}`
  const { sheets } = await run(opened(xlsx({ sparse }, 'A1:XFD1048576')))
  t.same([sheets[0].rowCount, sheets[0].columnCount, sheets[0].truncated], [1_048_576, 16_384, false])
  t.same([sheets[0].rows[0], sheets[0].rows[1], sheets[0].rows[2].length], [[1], [], 16_384])
})

t.test('bombs are refused soon and without much memory', async (t) => {
  const cell = row(1, ['A'], 1)
  const rows = cell.repeat(Math.ceil(300_000_000 / cell.length))
  const bomb = xlsx({ bomb: rows })
  t.ok(bomb.length < 1_000_000, `${bomb.length} bytes`)
  const lying = Buffer.from(bomb)
  for (let at = lying.indexOf('PK\x01\x02'); at >= 0; at = lying.indexOf('PK\x01\x02', at + 4))
    if (lying.readUInt32LE(at + 24) > 1_000_000) lying.writeUInt32LE(1000, at + 24)
  const repeated = ods('table:number-rows-repeated="1048576"', 'table:number-columns-repeated="16384"')
  for (const [what, bytes] of Object.entries({ bomb, lying, repeated })) {
    const before = process.memoryUsage().rss
    const clock = quietClock()
    let most = before
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5)
    await t.rejects(run(opened(bytes)), Unreadable, what).finally(() => clearInterval(watch))
    const [ms, grown] = [clock(), (most - before) / 1_000_000]
    t.ok(ms < 2000, `${what}: ${ms.toFixed(0)} ms`)
    t.ok(grown < 100, `${what}: ${grown.toFixed(0)} MB more`)
  }
})

const row = (at: number, columns: readonly string[], value: number): string =>
  `<row r="${at}">${columns.map((column) => `<c r="${column}${at}"><v>${value}</v></c>`).join('')}</row>`

/** A workbook with these rows as its sheets. */
const xlsx = (sheets: Readonly<Record<string, string | null>>, dimension = 'A1'): Buffer => {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  const links = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const entries = Object.entries(sheets)
  const parts = entries.flatMap(([, rows], at) =>
    rows === null
      ? []
      : [
          [
            `xl/worksheets/sheet${at + 1}.xml`,
            `<worksheet xmlns="${main}"><dimension ref="${dimension}"/><sheetData>${rows}</sheetData></worksheet>`,
          ],
        ],
  )
  return zip({
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${links}"><sheets>${entries.map(([name], at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="r${at + 1}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${entries.map((_, at) => `<Relationship Id="r${at + 1}" Type="${links}/worksheet" Target="worksheets/sheet${at + 1}.xml"/>`).join('')}</Relationships>`,
    ...Object.fromEntries(parts),
  })
}

const ods = (rows: string, columns: string): Buffer =>
  zip({
    'META-INF/manifest.xml': '<manifest/>',
    'styles.xml': '<office:document-styles/>',
    'content.xml': `<office:document-content><office:body><office:spreadsheet><table:table table:name="a"><table:table-row ${rows}><table:table-cell ${columns} office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`,
  })

const zip = (files: Readonly<Record<string, string>>): Buffer => {
  const locals: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const packed = deflateRawSync(content)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(8, 4)
    facts.writeUInt32LE(crc32(content), 10)
    facts.writeUInt32LE(packed.length, 14)
    facts.writeUInt32LE(Buffer.byteLength(content), 18)
    facts.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name), packed])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), facts, place, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(entries.length, 4)
  end.writeUInt16LE(entries.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end])
}
