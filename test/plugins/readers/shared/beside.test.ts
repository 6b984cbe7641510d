import '../../../fakes/unwatched.ts'
import t from 'tap'
import type { Contents } from '../../../../core/ports/file-content.ts'
import document from '../../../../plugins/readers/document.ts'
import spreadsheet from '../../../../plugins/readers/spreadsheet.ts'
import { wordParts } from '../../../fakes/documents.ts'
import { zipOf } from '../../../fakes/zip.ts'
import { file, made, soon, stored } from '../tried.ts'

const contentOf = async (reader: Parameters<typeof made>[0], path: string) =>
  (await made(reader).read(await stored(path), soon())).content

t.test('links, descriptions, comments, headers, footers and hidden text stand beside a text', async (t) => {
  for (const format of ['docx', 'odt'])
    t.match(
      await contentOf(document, `beside/text.${format}`),
      {
        links: [{ url: 'https://example.org/pears', text: 'about pears', at: null }],
        images: [{ alt: 'A pear tree in spring' }],
        comments: [{ author: 'Ada', text: 'Check the number' }],
        headers: ['Orchard report'],
        footers: ['Not for print'],
        hidden: ['unseen words'],
      },
      format,
    )
  t.notOk('charts' in (await contentOf(document, 'docx/harvest.docx')), 'an empty list is absent')
})

t.test('links, charts and comments stand beside the sheets', async (t) => {
  t.match(await contentOf(spreadsheet, 'xlsx/rich.xlsx'), {
    links: [{ url: 'https://example.org/far', at: 'Sales!B17' }],
    charts: [{ title: 'Pears a month', series: [{ name: "'Sales'!B3" }] }],
    comments: [{ author: 'Ada', text: 'Counted by hand', at: 'Sales!A3' }],
  })
  t.match(await contentOf(spreadsheet, 'beside/rich.ods'), {
    links: [{ url: 'https://example.org/far', text: 'far below' }],
    charts: [{ title: 'Pears a month', series: [{ name: 'Pears', categories: ['May', 'July'], values: [4, 9] }] }],
    comments: [{ text: 'Counted by hand' }],
  })
})

t.test('a series of a chart has the name that its file keeps, else its cell', async (t) => {
  const copied = (text: string) => `<c:strCache><c:pt><c:v>${text}</c:v></c:pt></c:strCache>`
  const named = (cell: string, copy: string) => `<c:tx><c:strRef><c:f>${cell}</c:f>${copy}</c:strRef></c:tx>`
  const values =
    '<c:val><c:numRef><c:f>S!$B$2</c:f><c:numCache><c:pt><c:v>1.5</c:v></c:pt></c:numCache></c:numRef></c:val>'
  const series = [named('S!$B$1', copied('Sales')), named('S!$C$1', ''), '<c:tx><c:v>Own</c:v></c:tx>', '']
  const chart = `<c:chart>${series.map((name) => `<c:ser>${name}${values}</c:ser>`).join('')}</c:chart>`
  const bytes = zipOf([
    ...wordParts,
    { name: 'word/document.xml', content: '<w:document><w:body><w:p/></w:body></w:document>' },
    { name: 'word/charts/chart1.xml', content: chart },
  ])
  const { charts } = (await made(document).read(file('a.docx', bytes), soon())).content as Contents['document']
  const read = ['Sales', 'S!$C$1', 'Own', null].map((name) => ({ name, categories: [], values: [1.5] }))
  t.same(charts, [{ title: null, series: read }])
})

const textOf = async (name: string, text: string) =>
  (await made(document).read(file(name, text), soon())).content as Contents['document']

t.test('links, comments, headers and hidden text stand beside the text of an RTF', async (t) => {
  const link = '{\\field{\\*\\fldinst HYPERLINK "https://example.org/pears"}{\\fldrslt about pears}}'
  const note = "{\\*\\atnid A}{\\*\\atnauthor Ad\\'e4}\\chatn{\\*\\annotation{\\*\\atnref 0}Check the\\par number}"
  const repeated = '{\\header\\pard Orchard report\\par}{\\footer\\pard Not for print\\par}'
  const content = await textOf('a.rtf', `{\\rtf1\\ansi${repeated} Read ${link}${note} and {\\v unseen words} go.\\par}`)
  t.match(content, {
    sections: [{ text: 'Read about pears and unseen words go.' }],
    links: [{ url: 'https://example.org/pears', text: 'about pears', at: null }],
    comments: [{ author: 'Adä', text: 'Check the number', at: null }],
    headers: ['Orchard report'],
    footers: ['Not for print'],
    hidden: ['unseen words'],
  })
})

t.test('an RTF whose outermost groups LibreOffice left open is read', async (t) => {
  t.match(await textOf('a.rtf', '{\\rtf1 {\\ansi One field.{\\par}\n'), { sections: [{ text: 'One field.' }] })
})

t.test('links and descriptions stand beside the text of a page, and descriptions in it', async (t) => {
  const page =
    '<p>See <a href="https://example.org/pears">about <b>pears</b></a><img src=x alt="A pear tree">, <a href="#x">here</a>.'
  t.match(await textOf('a.html', page), {
    sections: [{ text: /^See about pears A pear tree / }],
    links: [{ url: 'https://example.org/pears', text: 'about pears', at: null }],
    images: [{ alt: 'A pear tree', at: null }],
  })
  t.equal((await textOf('a.html', page)).links?.length, 1, 'a link within the page leads nowhere')
})

const word = (name: string, content: string) => ({ name, content })
const docx = (body: string, styles: string) => {
  const types = '<Types><Override ContentType="application/x-wordprocessingml.document.main+xml"/></Types>'
  const relation = '<Relationship Id="1" Type="x/officeDocument" Target="word/document.xml"/>'
  return zipOf([
    word('[Content_Types].xml', types),
    word('_rels/.rels', `<Relationships>${relation}</Relationships>`),
    word('word/document.xml', `<document><body><p>${body}</p></body></document>`),
    word('word/styles.xml', styles),
  ])
}

t.test('text that a named style hides counts as hidden', async (t) => {
  const body = '<r><rPr><rStyle val="Unseen"/></rPr><t>unseen words</t></r><r><t> shown</t></r>'
  const styles = '<styles><style styleId="Unseen"><rPr><vanish/></rPr></style></styles>'
  const read = (bytes: Uint8Array) => made(document).read({ name: '', mime: '', bytes }, soon())
  t.match((await read(docx(body, styles))).content, { hidden: ['unseen words'] })
  t.notOk('hidden' in (await read(docx(body, '<styles><style styleId="Unseen"/></styles>'))).content)
})
