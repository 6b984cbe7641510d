import t from 'tap'
import type { Contents } from '../../../core/ports/file-content.ts'
import { openCompound } from '../../../plugins/readers/shared/compound.ts'
import spreadsheet from '../../../plugins/readers/spreadsheet.ts'
import { safePart, safeStream } from '../../../plugins/readers/spreadsheet/sheets-guard.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { zipOf } from '../../fakes/zip.ts'
import { file, made, soon, stored } from './tried.ts'

t.test('contract', async (t) => {
  const good = { file: await stored('xlsx/orders-two-sheets.xlsx'), says: 'Müller & Söhne' }
  const broken = file('secret.xlsx', 'PK\x03\x04 and nothing more')
  const foreign = await stored('image/order.png')
  await conform(t, reader.contract, () => ({ reader: made(spreadsheet), good, broken, foreign }))
})

t.test('a section is a sheet, a line a row', async (t) => {
  const csv = file('list.csv', 'name,weight\napple,3\npear,\n')
  const { sections } = await made(spreadsheet).read(csv, soon())
  t.match(sections, [{ text: 'name | weight\napple | 3\npear', page: null }])
})

t.test('an xls is read without the properties beside it, and refused for a list without its length', async (t) => {
  const whole = await stored('xls/rich.xls')
  const read = async (bytes: Uint8Array) => (await made(spreadsheet).read(file('a.xls', bytes), soon())).content
  const content = await read(whole.bytes)
  const container = openCompound(whole.bytes)
  const placeOf = (path: string) => Buffer.from(whole.bytes).indexOf(container.stream(path)!.subarray(0, 64))

  const endless = Buffer.from(whole.bytes)
  const summary = placeOf('\x05SummaryInformation')
  const section = endless.readUInt32LE(summary + 44)
  endless.writeUInt32LE(0xffff_ffff, summary + section + 4)
  t.same(await read(endless), content)

  const listed = Buffer.from(whole.bytes)
  const [emptyHeaderAndFooter, externalSheets] = [Buffer.from('1400000015000000', 'hex'), 0x17]
  listed.writeUInt16LE(externalSheets, listed.indexOf(emptyHeaderAndFooter))
  await t.rejects(read(listed), { name: 'Unreadable' })
  t.throws(() => safeStream(listed), { name: 'Unreadable' }, 'before the library meets it')
})

t.test('an ods whose paragraphs or spaces are without end is refused before the library meets it', async (t) => {
  const part = (text: string) =>
    safePart('content.xml', Buffer.from(`<office:spreadsheet>${text}</office:spreadsheet>`))
  t.ok(part('<text:p>a<text:s text:c="3"/>b</text:p><text:p/>'.repeat(1_000)))
  t.throws(() => part(`${'<text:p>'.repeat(1_000)}${'</text:p>'.repeat(1_000)}`), { name: 'Unreadable' })
  t.throws(() => part(`<text:p>${'<text:p/></text:p>'.repeat(1_000)}`), { name: 'Unreadable' })
  t.throws(() => part('<text:p><text:s text:c="400000000"/></text:p>'), { name: 'Unreadable' })
})

const rowsOf = async (name: string, content: string | Uint8Array) => {
  const { sections } = await made(spreadsheet).read(file(name, content), soon())
  return sections.map(({ text }) => text).join('\n')
}

t.test('a CSV whose lines end in several ways keeps its rows', async (t) => {
  const expected = 'name | city\nAnna | Bonn\nBert | Ulm'
  t.equal(await rowsOf('a.csv', 'name,city\r\nAnna,Bonn\nBert,Ulm\n'), expected, 'the first as Windows does')
  t.equal(await rowsOf('a.csv', 'name,city\nAnna,Bonn\r\nBert,Ulm\r\n'), expected, 'the others as Windows does')
  t.equal(await rowsOf('a.csv', 'name,city\rAnna,Bonn\rBert,Ulm\r'), expected, 'as old programs do')
  t.equal(await rowsOf('a.csv', 'name,city\r"An\nna",Bonn\r'), 'name | city\nAn\nna | Bonn', 'a line within a cell')
})

/** A workbook of these rows, whose cells have the format `[h]:mm` in style 1; its elements have a prefix. */
const workbook = (prefix: string, rows: string) => {
  const schemas = 'http://schemas.openxmlformats.org'
  const links = `${schemas}/officeDocument/2006/relationships`
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
  const spaces = `xmlns${prefix && `:${prefix.slice(0, -1)}`}="${schemas}/spreadsheetml/2006/main" xmlns:r="${links}"`
  const part = (name: string, root: string, content: string) => ({
    name: `xl/${name}.xml`,
    content: `<${root} ${spaces}>${content}</${root}>`.replace(/<(\/?)(?=[a-z])/gi, `<$1${prefix}`),
  })
  const related = (kind: string) => `<Relationship Id="${kind}" Type="${links}/${kind}" Target="${kind}.xml"/>`
  return zipOf([
    {
      name: '[Content_Types].xml',
      content: `<Types xmlns="${schemas}/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${type}.styles+xml"/></Types>`,
    },
    part('workbook', 'workbook', '<sheets><sheet name="A" sheetId="1" r:id="worksheet"/></sheets>'),
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `<Relationships xmlns="${schemas}/package/2006/relationships">${related('worksheet')}${related('styles')}</Relationships>`,
    },
    part(
      'styles',
      'styleSheet',
      '<numFmts count="1"><numFmt numFmtId="164" formatCode="[h]:mm"/></numFmts><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs>',
    ),
    part('worksheet', 'worksheet', `<sheetData>${rows}</sheetData>`),
  ])
}

t.test('a negative duration keeps its sign in an xlsx', async (t) => {
  const cells = [-0.0625, -1.5, 0.25, -3_000_000].map((days) => `<c s="1"><v>${days}</v></c>`).join('')
  t.equal(await rowsOf('a.xlsx', workbook('', `<row r="1">${cells}</row>`)), '-PT1H30M | -PT36H | PT6H | -3000000')
})

t.test('a negative duration keeps its sign in an ods', async (t) => {
  const time = (value: string) =>
    `<table:table-cell table:style-name="s" office:value-type="time" office:time-value="${value}" calcext:value-type="time"><text:p>x</text:p></table:table-cell>`
  const spaces = ['office', 'table', 'text', 'style', 'number', 'calcext'].map((name) => `xmlns:${name}="${name}"`)
  const format =
    '<number:time-style style:name="n" number:truncate-on-overflow="false"><number:hours/><number:text>:</number:text><number:minutes/></number:time-style><style:style style:name="s" style:family="table-cell" style:data-style-name="n"/>'
  const row = ['-PT01H30M00S', '-PT36H00M00.5S', 'PT06H00M00S'].map(time).join('')
  const content = `<office:document-content ${spaces.join(' ')}><office:automatic-styles>${format}</office:automatic-styles><office:body><office:spreadsheet><table:table table:name="A"><table:table-row>${row}</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`
  const bytes = zipOf([
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.spreadsheet' },
    { name: 'META-INF/manifest.xml', content: '<manifest/>' },
    { name: 'styles.xml', content: '<office:document-styles/>' },
    { name: 'content.xml', content },
  ])
  t.equal(await rowsOf('a.ods', bytes), '-PT1H30M | -PT36H | PT6H')
})

t.test('a cell with attributes without end is read once', (t) => {
  const cell = `<table:table-cell ${'office:time-value="-P '.repeat(20_000)}`
  const begun = process.cpuUsage().user
  t.ok(safePart('content.xml', Buffer.from(`<office:spreadsheet>${cell}`)))
  t.ok(process.cpuUsage().user - begun < 1_000_000)
  t.end()
})

t.test('a formula without a value is the text of its cell, whatever the prefix of its elements', async (t) => {
  const row =
    '<row r="1"><c r="A1"><f>SUM(1,2)</f></c><c r="B1"><f>1+1</f><v>2</v></c><c r="C1"><f>A1&lt;2</f><v/></c></row>'
  for (const prefix of ['', 'x:'])
    t.equal(await rowsOf('a.xlsx', workbook(prefix, row)), '=SUM(1,2) | 2 | =A1<2', `prefix "${prefix}"`)
})

t.test(
  'formulas of an xls without any value are the texts of their cells, and an empty value stays empty',
  async (t) => {
    const { bytes } = await stored('xls/formulas-without-values.xls')
    const formulas = ['=SUM(A1:A3)', '=A1&" x"', '=IF(A1>2,"yes","")']
    t.equal(await rowsOf('a.xls', bytes), ['1.5 | text', '2.5', '3.5', ...formulas].join('\n'))
    const worked = Buffer.from(bytes)
    const empty = Buffer.from('030000000000ffff', 'hex')
    worked.writeDoubleLE(7.5, worked.indexOf(empty))
    t.equal(await rowsOf('a.xls', worked), '1.5 | text\n2.5\n3.5\n7.5', 'the others are empty texts')
  },
)

t.test('a cell of an ods may have no text, and values in single quotes', async (t) => {
  const cell = (more: string, text: string) => `<table:table-cell ${more}><text:p>${text}</text:p></table:table-cell>`
  const cells = [
    cell("office:value-type='float' office:value='1'", '1'),
    '<table:table-cell office:value-type="float" office:value="2"/><table:table-cell table:style-name="a"/>',
    '<table:table-cell office:value-type="date" office:date-value="2030-01-31"/>',
    cell(`office:value-type="string" table:formula='of:=IF([.A1]>0;"yes";"no")' office:string-value="yes"`, 'yes'),
    cell(`office:value-type="string" table:formula="of:='A b'.A1"`, `it's ='x' "q"`),
  ]
  const table = `<table:table table:name='Say "hi"'><table:table-row>${cells.join('')}</table:table-row></table:table>`
  const content = `<office:document-content><office:body><office:spreadsheet>${table}</office:spreadsheet></office:body></office:document-content>`
  const bytes = zipOf([
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.spreadsheet' },
    { name: 'content.xml', content: content.replace('[.A1]>0', '[.A1]&gt;0') },
    { name: 'styles.xml', content: '<office:document-styles/>' },
    { name: 'META-INF/manifest.xml', content: '<manifest:manifest/>' },
  ])
  const sheets = (await made(spreadsheet).read(file('a.ods', bytes), soon())).content
  t.match(sheets, { sheets: [{ name: 'Say "hi"', rows: [[1, 2, null, '2030-01-31', 'yes', `it's ='x' "q"`]] }] })
})

t.test('a page or the XML of Excel 2003 under the name of a workbook is read by its cells', async (t) => {
  const sheets = async (name: string, text: string | Uint8Array) =>
    (await made(spreadsheet).read(file(name, text), soon())).content as Contents['spreadsheet']
  const page = [
    '<html xmlns:x="x"><head><style>td{}</style><meta charset=windows-1252></head><body>',
    '<table><tr><td>Layout<td><table><tr><th rowspan=2>Name<th colspan=2>Sum<tr><th>2030<th>2031',
    '<tr><td>K\xf6ln &amp; Bonn<br>West</td><td x:num="1234.5">1.234,50</td><td>00123<script>0</script>',
    '<tr><td>Ulm</td><td></td><td>7</td></tr></table></td></tr></table></body></html>',
  ]
  t.match(await sheets('report.xls', Buffer.from(page.join('\n'), 'latin1')), {
    format: 'html',
    encoding: { name: 'windows-1252' },
    sheets: [
      { name: 'Table 1', rows: [['Layout']] },
      {
        name: 'Table 2',
        rows: [
          ['Name', 'Sum'],
          [null, 2030, 2031],
          ['Köln & Bonn\nWest', 1234.5, '00123'],
          ['Ulm', null, 7],
        ],
      },
    ],
  })
  const cell = (type: string, text: string, more = '') =>
    `<Cell${more}><Data ss:Type="${type}">${text}</Data><Comment><Data>Note</Data></Comment></Cell>`
  const workbook = [
    '<?xml version="1.0" encoding="ISO-8859-1"?><?mso-application progid="Excel.Sheet"?>',
    '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="s"><Worksheet ss:Name="A &amp; B"><Table>',
    `<Row>${cell('String', 'K\xf6ln <B>x</B>', ' ss:MergeAcross="1" ss:MergeDown="1"')}${cell('Number', '1.50')}</Row>`,
    `<Row>${cell('Boolean', '1')}</Row><Row ss:Index="4">${cell('DateTime', '2030-01-31T00:00:00.000', ' ss:Index="2"')}`,
    `${cell('DateTime', '2030-01-31T10:30:00.000')}<Cell/></Row></Table></Worksheet></Workbook>`,
  ]
  t.match(await sheets('report.xls', Buffer.from(workbook.join(''), 'latin1')), {
    format: 'xml',
    sheets: [
      {
        name: 'A & B',

        rows: [['Köln x', null, 1.5], [null, null, true], [], [null, '2030-01-31', '2030-01-31T10:30:00']],
      },
    ],
  })
  t.match(await sheets('a.csv', '<div>,x\n1,2\n'), { format: 'csv' }, 'a page without a table is text')
})

t.test('cells of a page that cover very many places are refused soon', async (t) => {
  const page = `<table>${'<tr><td colspan=1000 rowspan=65534>x'.repeat(600)}</table>`
  await t.rejects(made(spreadsheet).read(file('a.xls', page), soon()), { name: 'Unreadable' })
})
