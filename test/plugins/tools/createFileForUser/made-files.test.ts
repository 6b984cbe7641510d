import '../../../fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { XMLValidator } from 'fast-xml-parser'
import t from 'tap'
import * as v from 'valibot'
import { BadRequest } from '../../../../core/errors.ts'
import { use } from '../../../../core/plugin.ts'
import { Tool, type MadeFile } from '../../../../core/ports/tool.ts'
import { readDocument } from '../../../../plugins/readers/document.ts'
import { readPdf } from '../../../../plugins/readers/pdf/pdf.ts'
import { readSlides } from '../../../../plugins/readers/slides.ts'
import { readSheets } from '../../../../plugins/readers/spreadsheet.ts'
import { unzip } from '../../../../plugins/shared/zip.ts'
import createFileForUser from '../../../../plugins/tools/createFileForUser.ts'
import { formats, mimes } from '../../../../plugins/tools/createFileForUser/formats.ts'
import { fitted } from '../../../fitted.ts'

type Format = (typeof formats)[number]

const tool = fitted(use(createFileForUser)).supply({ tools: Tool }).tools[0]!
const soon = () => AbortSignal.timeout(60_000)

const make = async (format: Format, fileContent: string, contentFormat = 'markdown'): Promise<MadeFile> => {
  if (tool.kind !== 'makes-file') throw new Error(tool.kind)
  const params = { fileName: 'report', fileExtension: format, fileContent, mimeType: mimes[format], contentFormat }
  return tool.run(v.parse(tool.params, params), soon())
}

const refusal = async (format: Format, content: string, contentFormat?: string) => {
  const fault = await make(format, content, contentFormat).catch((error: unknown) => error)
  t.ok(fault instanceof BadRequest)
  return JSON.stringify((fault as BadRequest).validator)
}

const folder = await mkdtemp(join(tmpdir(), 'made-'))
t.teardown(() => rm(folder, { recursive: true }))

/** What a program of others makes of a file; null where the program is not installed. */
const heard = async (format: Format, file: MadeFile, program: string, given: (path: string) => readonly string[]) => {
  const path = join(folder, `some.${format}`)
  await writeFile(path, file.bytes)
  const { stdout, status } = spawnSync(program, given(path), { encoding: 'utf8', timeout: 60_000 })
  return status === 0 ? stdout : null
}

const report = `# Report: <Q1> & "more"

Words in **bold**, *italic*, ***both***, \`a <b>\`, ~~gone~~ and a [link](https://example.org/a?b=1&c=2).
Some [script](javascript:alert(1)), ![a heron](x.png), snake_case_name and 2*3*4.

## Sales – “Müller”

| Product | Units | Price | Day | Note |
|---|---:|---|---|---|
| 00123 | -12 | 19.90 | 2024-02-29 | =1+1 |
| 1.500 | 12345678901234567 | 1e5 | 2024-13-01 | a \\| b<br>next |

- one
- two
  - nested
    goes on

3. third
4. fourth

## Code

\`\`\`
if (a < b) { **c** }
\`\`\`

> Said by a heron
`

t.test('a document is made of Markdown', async (t) => {
  const made = await make('docx', report)
  t.same([made.name, made.mime], ['report.docx', mimes.docx])
  const { title, sections, links } = await readDocument(made, soon())
  t.equal(title, 'Report: <Q1> & "more"')
  t.same(
    sections.map(({ heading }) => heading),
    ['Report: <Q1> & "more"', 'Sales – “Müller”', 'Code'],
  )
  t.equal(
    sections[0]?.text,
    'Words in bold, italic, both, a <b>, gone and a link. Some script, a heron, snake_case_name and 2*3*4.',
  )
  t.equal(
    sections[1]?.text,
    [
      'Product | Units | Price | Day | Note',
      '00123 | -12 | 19.90 | 2024-02-29 | =1+1',
      '1.500 | 12345678901234567 | 1e5 | 2024-13-01 | a | b next',
      '- one\n- two\n  - nested goes on\n3. third\n4. fourth',
    ].join('\n'),
  )
  t.equal(sections[2]?.text, 'if (a < b) { **c** }\nSaid by a heron')
  t.same(links, [{ url: 'https://example.org/a?b=1&c=2', text: 'link', at: null }], 'the link to a script is words')
  const script = `import docx, sys
it = docx.Document(sys.argv[1])
print([p.style.name for p in it.paragraphs][:3], it.core_properties.title, it.tables[0].cell(1, 4).text)
print([r.text for p in it.paragraphs for r in p.runs if r.bold and r.italic])`
  const told = await heard('docx', made, '/usr/bin/python3', (path) => ['-c', script, path])
  if (told === null) return t.comment('python-docx is not installed: skipped')
  t.equal(told, `['Heading 1', 'Normal', 'Heading 2'] Report: <Q1> & "more" =1+1\n['both']\n`, 'python-docx')
})

t.test('a workbook is made of Markdown: numbers and days are such, formulas are text', async (t) => {
  const made = await make('xlsx', report)
  const { sheets } = await readSheets(made, soon())
  t.same(
    sheets.map(({ name }) => name),
    ['Report <Q1> & "more"', 'Sales – “Müller”', 'Code'],
  )
  t.same(sheets[1]?.rows, [
    ['Product', 'Units', 'Price', 'Day', 'Note'],
    ['00123', -12, 19.9, '2024-02-29', '=1+1'],
    ['1.500', '12345678901234567', '1e5', '2024-13-01', 'a | b\nnext'],
    ['one'],
    ['two'],
    [null, 'nested goes on'],
    ['3. third'],
    ['4. fourth'],
  ])
  const script = `import openpyxl, sys
it = openpyxl.load_workbook(sys.argv[1])
sheet = it.worksheets[1]
print(it.sheetnames[1], sheet.freeze_panes, [(c.value, c.data_type) for c in sheet[2]], sheet['E2'].quotePrefix)`
  const told = await heard('xlsx', made, '/usr/bin/python3', (path) => ['-c', script, path])
  if (told === null) return t.comment('openpyxl is not installed: skipped')
  const cells = `('00123', 's'), (-12, 'n'), (19.9, 'n'), (datetime.datetime(2024, 2, 29, 0, 0), 'd'), ('=1+1', 's')`
  t.equal(told, `Sales – “Müller” A2 [${cells}] True\n`, 'openpyxl')
})

t.test('a workbook is made of CSV', async (t) => {
  const { sheets } = await readSheets(
    await make('xlsx', 'a;b\r\n"x ""y""\n;z";=HYPERLINK("x")\n-1.25;_x0041_\n', 'csv'),
    soon(),
  )
  t.same(sheets[0]?.rows, [['a', 'b'], ['x "y"\n;z', '=HYPERLINK("x")'], [-1.25, '_x0041_']]) // prettier-ignore
  const same = '# a\n\nb\n\n# A\n\nb\n\n# [x]: y/z\n\nb\n\n# History\n\nb\n\n# Alone\n'
  const named = await readSheets(await make('xlsx', same), soon())
  t.same(
    named.sheets.map(({ name }) => name),
    ['a', 'A (2)', 'x y z', 'Sheet1', 'Sheet2'],
    'names that spreadsheets take',
  )
  t.same(named.sheets.at(-1)?.rows, [['Alone']], 'a heading without anything is not lost')
})

t.test('a quoted cell of CSV stays in its place', async (t) => {
  const rows = async (csv: string) => (await readSheets(await make('xlsx', csv, 'csv'), soon())).sheets[0]?.rows
  t.same(await rows('Name,Sum\n"Smith" , 5\n"B"ob,6'), [['Name', 'Sum'], ['Smith', 5], ['Bob', 6]]) // prettier-ignore
  t.same(await rows('"Last, First, Mid";Age\n"A, B";5'), [['Last, First, Mid', 'Age'], ['A, B', 5]]) // prettier-ignore
  t.same(await rows('"a\nb, c, ""d""";e\n1;2'), [['a\nb, c, "d"', 'e'], [1, 2]]) // prettier-ignore
})

t.test('slides are made of headings, lists and tables', async (t) => {
  const many = Array.from({ length: 30 }, (_, at) => `- point ${at + 1}`).join('\n')
  const rows = Array.from({ length: 20 }, (_, at) => `| row ${at + 1} | ${at} |`).join('\n')
  const made = await make('pptx', `${report}\n## Long\n\n${many}\n\n| a | b |\n|-|-|\n${rows}\n`)
  const { slides, links } = await readSlides(made, soon())
  const long = slides.filter(({ title }) => title === 'Long')
  t.same(slides.map(({ title }) => title).slice(0, 4), [
    'Report: <Q1> & "more"',
    'Sales – “Müller”',
    'Sales – “Müller”',
    'Code',
  ])
  t.equal(slides[2]?.text, 'one\ntwo\n  nested goes on\n3. third\n4. fourth')
  t.equal(long.length, 5, 'what does not fit goes on, under the same title')
  t.match(long.map(({ text }) => text).join('\n'), /point 30[^]*row 11 \| 10\na \| b\nrow 12[^]*row 20 \| 19$/)
  t.equal(links?.[0]?.url, 'https://example.org/a?b=1&c=2')
  const script = `import pptx, sys
it = pptx.Presentation(sys.argv[1])
print(len(it.slides), it.slides[0].shapes.title.text, it.slides[1].shapes[1].table.cell(1, 4).text)`
  const told = await heard('pptx', made, '/usr/bin/python3', (path) => ['-c', script, path])
  if (told === null) return t.comment('python-pptx is not installed: skipped')
  t.equal(told, `${slides.length} Report: <Q1> & "more" =1+1\n`, 'python-pptx')
})

t.test('a PDF is made of Markdown', async (t) => {
  const rows = Array.from({ length: 120 }, (_, at) => `| row ${at + 1} | ${'words '.repeat(20)} |`).join('\n')
  const made = await make('pdf', `${report}\n| Head | Other |\n|-|-|\n${rows}\n\n${'x'.repeat(400)}\n`)
  const { title, outline, links, pages } = await readPdf(made, soon())
  t.equal(title, 'Report: <Q1> & "more"')
  t.same(
    outline?.map(({ title }) => title),
    ['Report: <Q1> & "more"', 'Sales – “Müller”', 'Code'],
  )
  t.same(links, [{ url: 'https://example.org/a?b=1&c=2', text: 'link', at: 'page 1' }])
  t.match(pages[0]?.text, /Words in bold, italic, both, a <b>, gone and a link\. Some script, a heron,/)
  t.match(pages[0]?.text, /00123 -12 19\.90 2024-02-29 =1\+1/)
  const inner = pages.slice(1, -1)
  t.ok(inner.length > 1 && inner.every(({ text }) => text.startsWith('Head Other')), 'the head stands on each page')
  t.equal(
    pages
      .map(({ text }) => text)
      .join('')
      .match(/x/g)?.length,
    400 + 1,
    'a long word is parted',
  )
  const told = await heard('pdf', made, 'pdftotext', (path) => ['-layout', path, '-'])
  if (told === null) return t.comment('pdftotext is not installed: skipped')
  t.match(told, /Sales – “Müller”/)
  t.match(told, /00123 +-12 +19\.90 +2024-02-29 +=1\+1/)
  t.equal(told.match(/row \d+ /g)?.length, 120, 'pdftotext')
})

t.test('a PDF takes Western letters, and says so', async (t) => {
  const text = 'Grüße, naïve – “€ 5” … œuvre\u202fšž\u2011\u2212'
  const { pages } = await readPdf(await make('pdf', text), soon())
  t.equal(pages[0]?.text.replace(/\s/g, ' '), 'Grüße, naïve – “€ 5” … œuvre šž--')
  for (const other of ['日本', 'Привет', '🎉', 'שלום', 'ł']) {
    const told = await refusal('pdf', `canary ${other}`)
    t.match(told, /Windows-1252/)
    t.notOk(told.includes('canary') || told.includes(other))
  }
})

t.test('markup, controls and marks of direction stay text or go', async (t) => {
  const hostile =
    "a</w:t></a:t></t>&lt;b&amp;]]><!--\u0000\u0007\ud800 \u202eabc\u2066\ufffe ok \"q\" 'p'\n\n=cmd|' /C calc'!A0\n"
  const clean = 'a</w:t></a:t></t><b&]]><!--\ufffd abc ok "q" \'p\''
  const doc = await readDocument(await make('docx', hostile), soon())
  t.equal(doc.sections[0]?.text, `${clean}\n=cmd|' /C calc'!A0`)
  const { slides } = await readSlides(await make('pptx', hostile), soon())
  t.equal(slides[0]?.text, `${clean}\n=cmd|' /C calc'!A0`)
  const { sheets } = await readSheets(await make('xlsx', hostile), soon())
  t.same(sheets[0]?.rows, [[clean], ["=cmd|' /C calc'!A0"]])
  for (const format of ['docx', 'pptx', 'xlsx'] as const) {
    const parts = await unzip((await make(format, `# ${hostile}\n\n${report}`)).bytes, () => true)
    for (const [name, part] of parts) {
      const xml = Buffer.from(part).toString('utf8')
      t.equal(XMLValidator.validate(xml), true, `${format}: ${name}`)
      t.notMatch(xml, /<f>|\u202e|javascript:/, `${format}: ${name} has no formula`)
    }
  }
})

t.test('lines of scripts from right to left run so', async (t) => {
  const parts = await unzip((await make('docx', 'שלום עולם\n\nHello\n')).bytes, (name) => name === 'word/document.xml')
  const xml = Buffer.from(parts.get('word/document.xml') ?? []).toString('utf8')
  t.match(xml, /<w:p><w:pPr><w:bidi\/><\/w:pPr><w:r><w:rPr><w:rtl\/><\/w:rPr><w:t xml:space="preserve">שלום עולם/)
  t.equal(xml.match(/<w:bidi\/>/g)?.length, 1)
})

t.test('what is too much is refused, in words of the tool', async (t) => {
  const wide = (columns: number) => `${'a,'.repeat(columns - 1)}b\n`
  t.match(await refusal('docx', wide(64), 'csv'), /63 in a docx/)
  t.match(await refusal('pptx', wide(26), 'csv'), /25 in a pptx/)
  t.match(await refusal('pdf', wide(21), 'csv'), /20 in a pdf/)
  t.match(await refusal('xlsx', wide(16_385), 'csv'), /16,384 columns/)
  t.match(await refusal('xlsx', wide(1_000).repeat(201), 'csv'), /200,000 cells/)
  t.match(await refusal('xlsx', `${wide(1_000)}${'x\n'.repeat(300)}`, 'csv'), /200,000 cells/, 'filled rows count')
  t.match(await refusal('xlsx', `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(100_001)}`), /200,000 cells/)
  t.match(await refusal('xlsx', 'x'.repeat(32_768)), /32,767 characters/)
  t.match(await refusal('xlsx', '# a\n\nb\n\n'.repeat(201)), /200 headings/)
  t.match(await refusal('docx', 'a\n\n'.repeat(50_002)), /50,000 paragraphs/)
  t.match(await refusal('pptx', '# a\n\nb\n\n'.repeat(1_001)), /1,000 slides/)
  t.match(await refusal('docx', 'a'.repeat(1_000_001)), /1,000,000 characters/)
})

t.test('extension and type name one format, and the same content gives the same bytes', async (t) => {
  const asked = async (fileExtension: string, mimeType: string) => {
    if (tool.kind !== 'makes-file') throw new Error(tool.kind)
    const params = { fileName: 'a.docx', fileExtension, fileContent: '# a', mimeType, contentFormat: 'markdown' }
    return tool.run(v.parse(tool.params, params), soon())
  }
  t.match(await asked('.DOCX', 'text/markdown'), { name: 'a.docx', mime: mimes.docx })
  t.match(await asked('', mimes.pdf), { name: 'a.docx.pdf', mime: mimes.pdf })
  for (const [extension, mime] of [
    ['md', 'text/markdown'],
    ['doc', mimes.docx],
    ['docx', mimes.pdf],
  ] as const)
    // prettier-ignore
    await t.rejects(asked(extension, mime), BadRequest, `${extension}, ${mime}`)
  for (const format of formats) t.same((await make(format, report)).bytes, (await make(format, report)).bytes, format)
  t.throws(() => v.parse(tool.params, { fileName: 'a', fileExtension: 'docx', fileContent: '', mimeType: 'a/b', contentFormat: 'html' })) // prettier-ignore
})
