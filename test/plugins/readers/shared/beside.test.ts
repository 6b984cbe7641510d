import '../../../fakes/unwatched.ts'
import t from 'tap'
import document from '../../../../plugins/readers/document.ts'
import spreadsheet from '../../../../plugins/readers/spreadsheet.ts'
import { made, soon, stored } from '../tried.ts'

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
