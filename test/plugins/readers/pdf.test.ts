import t from 'tap'
import type { Pdf } from '../../../core/ports/file-content.ts'
import { type Item, joinItems } from '../../../plugins/readers/pdf/pdf-lines.ts'
import pdf from '../../../plugins/readers/pdf.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { file, made, soon, stored } from './tried.ts'

t.test('contract', async (t) => {
  const good = { file: await stored('pdf/two-pages-with-headings-and-umlauts.pdf'), says: '4,218 containers' }
  const broken = file('secret.pdf', '%PDF-1.7 and nothing more')
  const foreign = await stored('image/order.png')
  await conform(t, reader.contract, () => ({ reader: made(pdf), good, broken, foreign }))
})

t.test('a section is a page', async (t) => {
  const { sections } = await made(pdf).read(await stored('pdf/two-pages-with-headings-and-umlauts.pdf'), soon())
  t.match(sections, [
    { page: 1, text: /^Harbour report/ },
    { page: 2, text: /^Outlook/ },
  ])
})

const contentOf = async (name: string) => {
  const { content, sections } = await made(pdf).read(await stored(`pdf/${name}.pdf`), soon())
  return { content: content as Pdf, said: sections.map(({ text }) => text).join('\n') }
}

t.test('fonts of East Asia that are not embedded are read', async (t) => {
  const { content } = await contentOf('east-asian-fonts-not-embedded')
  const lines = ['灯台の守り人は毎晩灯りをともす。', '守塔人每天晚上点亮灯。', '守塔人每天晚上點亮燈。']
  const all = [...lines, '등대지기는 매일 밤 등불을 켠다.', '収穫は十月に始まる。']
  t.match(content.pages, [{ text: all.join('\n'), source: 'text' }])
  t.notOk(content.pages[0]?.untrusted)
})

t.test('a raised digit makes no other number, and other small digits stay as they are', async (t) => {
  const { content } = await contentOf('raised-digits')
  const lines = [
    'The mass is 10^6 kg and 10^−3 m2, the 1st of 3^127.',
    'Water is H2O, a base is 103, and no. 102 is small.',
    ...['10 6 7 8', 'The last line ends with 10', '1 A note under it.', '45 of 6', '106 is raised in its own size.'],
  ]
  t.equal(content.pages[0]?.text, lines.join('\n'))
})

t.test('the values of forms, comments, links and bookmarks are read', async (t) => {
  const form = await contentOf('form-with-values')
  t.match(form.content.forms, [
    { name: 'vessel', value: 'Grey Heron', at: 'page 2' },
    { name: 'berth', value: 'South quay', at: 'page 2' },
  ])
  t.match(form.content.links, [{ url: 'https://example.org/rules', text: 'harbour rules', at: 'page 2' }])
  t.notOk(form.content.comments, 'a link is no comment')
  t.match(form.said, /vessel: Grey Heron/, 'search finds them')
  const notes = await contentOf('comment-link-and-bookmarks')
  t.match(notes.content.comments, [{ author: /^Ada Quill/, text: 'Check the almanac again.', at: 'page 1' }])
  t.same(notes.content.outline, [
    { title: 'Tides', level: 1 },
    { title: 'Spring tides', level: 2 },
  ])
  t.match(notes.said, /almanac/)
})

t.test('text whose characters the fonts do not tell is read by OCR, or marked and not searched', async (t) => {
  const { content, said: text } = await contentOf('glyphs-mapped-to-controls')
  const page = content.pages[0]
  if (page?.source === 'ocr') t.match(page, { text: /harbour master counts/, confidence: Number })
  else t.match({ page, said: text }, { page: { untrusted: true }, said: '' })
  const numbers = await contentOf('glyph-numbers-alone')
  if (numbers.content.pages[0]?.source === 'text')
    t.match(numbers, { content: { pages: [{ untrusted: true }] }, said: '' })
  t.notMatch(numbers.said, /Ұ/, 'numbers of glyphs are no text')
})

t.test('pages are chosen', async (t) => {
  const two = await stored('pdf/two-pages-with-headings-and-umlauts.pdf')
  const second = await made(pdf).read(two, soon(), { from: 2 })
  t.match(second.content, { pages: [{ number: 2, text: /^Outlook/ }], pageCount: 2, truncated: false })
  t.match((await made(pdf).read(two, soon(), { from: 1, to: 1 })).content, { pages: { length: 1 }, truncated: false })
  t.match((await made(pdf).read(two, soon(), { from: 9 })).content, { pages: { length: 0 }, truncated: false })
})

t.test('a drop cap is joined to the rest of its word, and to nothing else', async (t) => {
  const { content } = await contentOf('drop-caps')
  t.match(content.pages[0]?.text, /^Once the tide had turned[^]*\nTHE SECOND boat[^]*\nA lamp without/)
  const cap = { str: 'T', hasEOL: false, width: 28, height: 46, transform: [46, 0, 0, 46, 0, 100] }
  const rest = (str: string, x: number, y: number, height = 12): Item => ({
    ...{ str, hasEOL: false, width: 100, height },
    transform: [height, 0, 0, height, x, y],
  })
  const said = (first: Item, item: Item) => [first, item].map(joinItems()).join('')
  t.equal(said(cap, rest('he tide', 30, 128)), 'The tide')
  t.equal(said(cap, rest('he tide', 40, 128)), 'T\nhe tide', 'too far')
  t.equal(said(cap, rest('he tide', 30, 60)), 'T\nhe tide', 'below')
  t.equal(said(cap, rest('2 tides', 30, 128)), 'T\n2 tides', 'no letters')
  t.equal(said(cap, rest('he tide', 30, 128, 30)), 'T\nhe tide', 'nearly as large')
  t.equal(said({ ...cap, str: 'To' }, rest('he tide', 30, 128)), 'To\nhe tide', 'no single letter')
  t.equal(said({ ...cap, str: 'A' }, rest('lamp', 32, 128)), 'A\nlamp', 'a word of one letter')
})

t.test('pieces that stand apart on the page stay apart in the text', (t) => {
  const item = (str: string, x: number, y = 100, hasEOL = false) => ({
    ...{ str, hasEOL, width: 10 * str.length, height: 12 },
    transform: [12, 0, 0, 12, x, y],
  })
  const said = (...items: readonly Item[]) => items.map(joinItems()).join('')
  t.equal(said(item('one', 0), item('word', 30)), 'oneword', 'pieces of a word')
  t.equal(said(item('one', 0), item('two', 60)), 'one two', 'a gap')
  t.equal(said(item('one', 0), item('two', 30, 80)), 'one\ntwo', 'another line')
  t.equal(said(item('one', 200), item('two', 0)), 'one two', 'a step back')
  t.equal(said(item('one', 0, 100, true), item('two', 0, 80)), 'one\ntwo', 'the end of a line is told once')
  const small = (x: number) => ({ ...item('6', x, 104), height: 8 })
  t.equal(said(item('10', 0), small(20)), '10^6', 'a power')
  t.equal(said(item('10', 0), small(40)), '10 6', 'a small number of another column')
  const turned = { ...item('up', 300), transform: [0, 12, -12, 0, 300, 300] }
  t.equal(said(item('one', 0), turned), 'oneup', 'turned text is left as it comes')
  t.end()
})
