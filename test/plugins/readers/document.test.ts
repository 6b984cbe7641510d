import t from 'tap'
import { numberingOf } from '../../../plugins/readers/document/docx-numbering.ts'
import { detectEncoding } from '../../../plugins/shared/detect-encoding.ts'
import document from '../../../plugins/readers/document.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { wordParts } from '../../fakes/documents.ts'
import { zipOf } from '../../fakes/zip.ts'
import { file, made, soon, stored } from './tried.ts'

t.test('contract', async (t) => {
  const good = { file: await stored('docx/harvest.docx'), says: 'sagt der Verband' }
  const broken = file('secret.docx', 'PK\x03\x04 and nothing more')
  const foreign = await stored('image/order.png')
  await conform(t, reader.contract, () => ({ reader: made(document), good, broken, foreign }))
})

t.test('a file without another reader is read as text', async (t) => {
  const reader = made(document)
  t.equal(reader.lastResort, true)
  t.ok(reader.fits(file('plan.unheard-of', 'words')))
  const { sections } = await reader.read(file('plan.unheard-of', 'words'), soon())
  t.same(sections, [{ heading: null, text: 'words', page: null }])
})

t.test('cells and options are apart, whatever encloses them', async (t) => {
  for (const [page, text] of [
    ['<center><table></center><tr><td>0.46</td><td>0.2</td></table>', '0.46 0.2'],
    ['<div><td>1</td><th>2</th></div>', '1 2'],
    ['<p>One of <option>red</option><option>blue</option>', 'One of red blue'],
  ] as const) {
    const { sections } = await made(document).read(file('page.html', page), soon())
    t.equal(sections.map((section) => section.text.trim()).join(), text, page)
  }
})

t.test('two lines of an old code page are not taken for Chinese', (t) => {
  // "Straße öffnen" and "Grüne Äpfel", as code page 850 has them.
  const old = Buffer.from('Stra\xe1e \x94ffnen\r\nGr\x81ne \x8epfel\r\n', 'latin1')
  t.not(detectEncoding(old).name, 'gb18030')
  // "Hello, this is Chinese text: 中文 in iPhone手机, 我们 with words", in its own encoding.
  const chinese = Buffer.from('Chinese: \xd6\xd0\xce\xc4 in iPhone\xca\xd6\xbb\xfa, \xce\xd2\xc3\xc7 on', 'latin1')
  t.equal(detectEncoding(chinese).name, 'gb18030')
  t.end()
})

t.test('a short text in which a program wrote U+FFFD is read', async (t) => {
  const text = 'Gr\ufffd\ufffde aus K\ufffdln, schön.'
  t.match((await made(document).read(file('a.txt', text), soon())).sections, [{ text }])
  const marked = Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), Buffer.alloc(600, 0xff), Buffer.from('few words')])
  await t.rejects(made(document).read(file('a.txt', marked), soon()), { name: 'Unreadable' }, 'mostly broken')
})

t.test('a list of a docx that overrides a level counts on in its own form', async (t) => {
  const level = (format: string, text: string) =>
    `<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`
  const list = (id: number, of: number, override = '') =>
    `<w:num w:numId="${id}"><w:abstractNumId w:val="${of}"/>${override}</w:num>`
  const own = `<w:lvlOverride w:ilvl="0">${level('lowerLetter', '(%1)')}</w:lvlOverride>`
  const numbering = [
    `<w:abstractNum w:abstractNumId="0">${level('decimal', '%1.')}</w:abstractNum>`,
    `<w:abstractNum w:abstractNumId="1">${level('upperRoman', '%1)')}</w:abstractNum>`,
    list(1, 0) + list(2, 0, own) + list(3, 1),
  ].join('')
  const paragraph = (text: string, id: number) =>
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="${id}"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`
  const body = paragraph('one', 1) + paragraph('two', 2) + paragraph('three', 1) + paragraph('apart', 3)
  const relations = '<Relationships><Relationship Id="n" Type="x/numbering" Target="numbering.xml"/></Relationships>'
  const bytes = zipOf([
    ...wordParts,
    { name: 'word/document.xml', content: `<w:document><w:body>${body}</w:body></w:document>` },
    { name: 'word/_rels/document.xml.rels', content: relations },
    { name: 'word/numbering.xml', content: `<w:numbering>${numbering}</w:numbering>` },
  ])
  const { sections } = await made(document).read(file('a.docx', bytes), soon())
  t.equal(sections[0]?.text, '1. one\n(b) two\n3. three\nI) apart')
})

t.test('a paragraph of a docx whose mark was deleted goes on in the next one', async (t) => {
  const paragraph = (properties: string, content: string) => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`
  const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`
  const [deleted, moved] = ['<w:rPr><w:del w:id="1"/></w:rPr>', '<w:rPr><w:moveFrom w:id="2"/></w:rPr>']
  const gone = '<w:del w:id="3"><w:r><w:delText>never</w:delText></w:r></w:del>'
  const body = [
    paragraph(deleted, run('The contract ')) + paragraph('', run('ends in May.')),
    paragraph(moved, gone) + paragraph('', gone + run('Signed.')),
    '<w:tbl><w:tr><w:tc>' + paragraph(deleted, run('red')) + '</w:tc><w:tc>' + paragraph('', run('blue')),
    '</w:tc></w:tr></w:tbl>' + paragraph(deleted, run('End')),
  ]
  const bytes = zipOf([
    ...wordParts,
    { name: 'word/document.xml', content: `<w:document><w:body>${body.join('')}</w:body></w:document>` },
  ])
  const { sections } = await made(document).read(file('a.docx', bytes), soon())
  t.equal(sections[0]?.text, 'The contract ends in May.\nSigned.\nred | blue\nEnd')
})

t.test('plain text of an rtf is in the encoding of the standard font', async (t) => {
  const fonts = '{\\fonttbl{\\f0\\fnil\\fcharset0 Arial;}{\\f1\\fnil\\fcharset204 Arial Cyr;}}'
  const text = (head: string) => `{\\rtf1\\ansi\\ansicpg1252${head}${fonts}\\pard\\'cf\\f0\\'cf\\plain\\'cf\\par}`
  const read = async (head: string) =>
    (await made(document).read(file('a.rtf', text(head)), soon())).sections.map(({ text }) => text).join()
  t.equal(await read('\\deff1'), 'ПÏП')
  t.equal(await read(''), 'ÏÏÏ', 'a file without a standard font has its own encoding')
})

t.test('an rtf in a code page of DOS is read with the characters of that page', async (t) => {
  const fonts = '{\\fonttbl{\\f0 Arial;}{\\f1\\fcharset255 Terminal;}{\\f2\\fcharset254 Terminal;}}'
  const read = async (head: string, text: string) => {
    const bytes = file('a.rtf', `{\\rtf1${head}${fonts}${text}\\par}`)
    return (await made(document).read(bytes, soon())).sections.map(({ text }) => text).join()
  }
  const [naive, part] = ["na\\'8bve\\'9b", "\\'9d \\'b5"]
  t.equal(await read('\\pc', naive), 'naïve¢')
  t.equal(await read('\\pca', naive + part), 'naïveøØ Á')
  t.equal(await read('\\ansi\\ansicpg437', naive), 'naïve¢')
  t.equal(await read('\\ansi\\ansicpg850', part), 'Ø Á')
  t.equal(await read('\\ansi', `\\f1 ${naive}\\f2 ${naive}\\f0 ${naive}`), 'naïveønaïve¢na‹ve›')
})

t.test('a list of a docx has nine levels, however many its file overrides', (t) => {
  const overrides = Array.from(
    { length: 6_000 },
    (_, at) => `<lvlOverride ilvl="${at}"><startOverride val="2"/><lvl ilvl="${at}"/>`,
  )
  const list = `<num numId="1"><abstractNumId val="0"/>${overrides.join('</lvlOverride>')}</lvlOverride></num>`
  const begun = process.cpuUsage().user
  numberingOf(Buffer.from(`<numbering><abstractNum abstractNumId="0"/>${list}</numbering>`))
  t.ok(process.cpuUsage().user - begun < 1_000_000)
  t.end()
})
