import t from 'tap'
import document from '../../../../plugins/readers/document.ts'
import slides from '../../../../plugins/readers/slides.ts'
import { epub, wordParts } from '../../../fakes/documents.ts'
import { type Packed, zipOf } from '../../../fakes/zip.ts'
import { failed } from '../../../helpers.ts'
import { file, made, soon } from '../tried.ts'

const word = (body: string, more: readonly Packed[] = []) =>
  zipOf([
    ...wordParts,
    { name: 'word/document.xml', content: `<w:document><w:body>${body}</w:body></w:document>` },
    ...more,
  ])

const read = async (name: string, content: string | Uint8Array): Promise<string> =>
  (await made(document).read(file(name, content), soon())).sections.map(({ text }) => text).join('\n')

const run = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`
const part = (name: string, ...content: string[]) => `<m:${name}>${content.join('')}</m:${name}>`
const half = part('f', part('num', run('1')), part('den', run('2')))

const formulas: Readonly<Record<string, string>> = {
  '1/2': half,
  '(a+1/2)/c': part('f', part('num', run('a+'), half), part('den', run('c'))),
  'n¦k': part('f', '<m:fPr><m:type m:val="noBar"/></m:fPr>', part('num', run('n')), part('den', run('k'))),
  '10^(-6)': part('sSup', part('e', run('10')), part('sup', run('-6'))),
  'x_1^2': part('sSubSup', part('e', run('x')), part('sub', run('1')), part('sup', run('2'))),
  'f(x)': run('f') + part('d', part('e', run('x'))),
  '[1;2)': part(
    'd',
    '<m:dPr><m:begChr m:val="["/><m:sepChr m:val=";"/><m:endChr m:val=")"/></m:dPr>',
    part('e', run('1')),
    part('e', run('2')),
  ),
  '√(2)': part('rad', '<m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>', part('e', run('2'))),
  '√(3&8)': part('rad', part('deg', run('3')), part('e', run('8'))),
  '∑_(i=1)^n i': part(
    'nary',
    '<m:naryPr><m:chr m:val="∑"/></m:naryPr>',
    part('sub', run('i=1')) + part('sup', run('n')),
    part('e', run('i')),
  ),
  '∫ x': part('nary', '<m:naryPr/>', part('e', run('x'))),
  '■(1&2@3&4)': part(
    'm',
    part('mr', part('e', run('1')), part('e', run('2'))),
    part('mr', part('e', run('3')), part('e', run('4'))),
  ),
}

t.test('a formula of Word or PowerPoint keeps its numbers apart', async (t) => {
  for (const [text, formula] of Object.entries(formulas))
    t.equal(await read('a.docx', word(`<w:p>${part('oMath', formula)}</w:p>`)), text, text)
  const relations = (id: string, kind: string, target: string) =>
    `<Relationships><Relationship Id="${id}" Type="x/${kind}" Target="${target}"/></Relationships>`
  const raised = (text: string) => `<a:r><a:rPr baseline="30000"/><a:t>${text}</a:t></a:r>`
  const lines = `<a:p><a:r><a:t>10</a:t></a:r>${raised('6')}<a:r><a:t>7</a:t></a:r></a:p><a:p>${raised('8')}</a:p>`
  const show = zipOf([
    {
      name: '[Content_Types].xml',
      content: '<Types><Override ContentType="x.presentationml.presentation.main+xml"/></Types>',
    },
    { name: '_rels/.rels', content: relations('r', 'officeDocument', 'ppt/p.xml') },
    { name: 'ppt/p.xml', content: '<p:presentation><p:sldId id="256" r:id="s"/></p:presentation>' },
    { name: 'ppt/_rels/p.xml.rels', content: relations('s', 'slide', 's.xml') },
    {
      name: 'ppt/s.xml',
      content: `<p:sld><p:sp><p:txBody><a:p>${part('oMath', half)}</a:p>${lines}</p:txBody></p:sp></p:sld>`,
    },
  ])
  t.match((await made(slides).read(file('a.pptx', show), soon())).sections, [{ text: '1/2\n10^67\n8' }])
})

t.test('a superscript does not make another number of the one before it', async (t) => {
  const raised = (text: string) => `<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>${text}</w:t></w:r>`
  const flat = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`
  const line = [
    flat('10'),
    raised('6'),
    flat(' and 10'),
    raised('−3'),
    flat(' m'),
    raised('2'),
    flat(' 1'),
    raised('st'),
  ]
  const body = `<w:p>${line.join('')}${flat('7')}</w:p><w:p>${flat('8')}${flat('9')}</w:p><w:p>${raised('5')}</w:p>`
  t.equal(await read('a.docx', word(body)), '10^6 and 10^−3 m2 1st7\n89\n5')
  t.equal(await read('a.docx', word(`<w:p>${flat('10')}${raised('1')}${raised('2')}</w:p>`)), '10^12')
  const page = '<p>10<sup>6</sup> and 10<sup>−3</sup> m<sup>2</sup> 1<sup>st</sup>7<p>8<b>9</b><p><sup>5</sup>'
  t.equal(await read('a.html', page), '10^6 and 10^−3 m2 1st7\n89\n5')
})

t.test('a superscript of an OpenDocument text or an RTF makes no other number', async (t) => {
  const style = (name: string, parent: string, position: string) =>
    `<style:style style:name="${name}" style:family="text" style:parent-style-name="${parent}">` +
    `<style:text-properties fo:color="#000000"${position}/></style:style>`
  const at = (place: string) => ` style:text-position="${place}"`
  const raised = (text: string, name = 'T1') => `<text:span text:style-name="${name}">${text}</text:span>`
  const lines = [
    `10${raised('6')} and 10${raised('−3', 'T2')} m${raised('2')} 1${raised('st')}7, x2${raised('3', 'T3')}`,
    `8${raised('<text:span>1</text:span>2', 'T4')}<text:s/>${raised('5')}`,
    `9${raised('0', 'T5')}<text:tab/>${raised('5', 'T6')}`,
    raised('4'),
  ]
  const body = lines.map((line) => `<text:p>${line}</text:p>`).join('')
  const text = zipOf([
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.text' },
    {
      name: 'styles.xml',
      content: `<office:document-styles><office:styles>${style('Up', '', at('super 58%'))}</office:styles></office:document-styles>`,
    },
    {
      name: 'content.xml',
      content:
        `<office:document-content><office:automatic-styles>${style('T1', 'Up', '')}${style('T2', '', at('33% 58%'))}` +
        `${style('T3', 'Up', at('sub 58%'))}${style('T4', 'T1', '')}${style('T5', 'Up', at('-33% 58%'))}` +
        `${style('T6', '', '')}</office:automatic-styles>` +
        `<office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    },
  ])
  t.equal(await read('a.odt', text), '10^6 and 10^−3 m2 1st7, x23\n8^12 5\n90\t5\n4')
  const rich = [
    '10{\\super 6} and 10\\super \\u8722?3\\nosupersub  m{\\up6 2} 1{\\super st}7, x2{\\super\\sub 3} 10{\\up6 5\\up0 4}\\par',
    '8{\\super 1{\\b 2}\\super0 3}\\super\\plain 4\\par 9{\\super {\\footnote 10 {\\b 11} 10{\\super 2}}} 5\\par',
    '\\trowd\\intbl 7\\cell {\\super 6}\\cell\\row\\pard 3\\par {\\super 4}\\par',
  ]
  t.equal(
    await read('a.rtf', `{\\rtf1\\ansi ${rich.join('\n')}}`),
    '10^6 and 10^−3 m2 1st7, x23 10^54\n8^1234\n9[1] 5\n7 | 6\n3\n4\n[1] 10 11 10^2',
  )
})

t.test('a reference to a note stands in brackets, whichever page has the note', async (t) => {
  const page = [
    '<p>in 2019<sup><a href="notes.xhtml#n1">1</a></sup>, 2020<a href="#n2" role="doc-noteref">2</a>,',
    ' 2021<a epub:type="noteref" href="notes.xhtml#n3"><sup>3</sup></a>, 2022<a href="#n4">4</a>.</p>',
  ]
  t.equal(await read('a.xhtml', page.join('')), 'in 2019[1], 2020[2], 2021[3], 20224.')
})

t.test('what goes on in an item of a docx has no mark where its list gives a blank', async (t) => {
  const level = (text: string) => `<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="${text}"/></w:lvl>`
  const list = (id: number, text: string) =>
    `<w:abstractNum w:abstractNumId="${id}">${level(text)}</w:abstractNum>` +
    `<w:num w:numId="${id}"><w:abstractNumId w:val="${id}"/></w:num>`
  const item = (id: number, text: string) =>
    `<w:p><w:pPr><w:numPr><w:numId w:val="${id}"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`
  const bytes = word(item(1, 'item') + item(2, 'goes on') + item(3, 'a picture'), [
    {
      name: 'word/_rels/document.xml.rels',
      content: '<Relationships><Relationship Id="n" Type="x/numbering" Target="numbering.xml"/></Relationships>',
    },
    { name: 'word/numbering.xml', content: `<w:numbering>${list(1, '·')}${list(2, ' ')}${list(3, '')}</w:numbering>` },
  ])
  t.equal(await read('a.docx', bytes), '- item\ngoes on\n- a picture')
})

t.test('a book whose pages are sealed is refused, and one whose fonts are sealed is read', async (t) => {
  const sealed = (name: string): Packed => ({
    name: 'META-INF/encryption.xml',
    content: `<encryption><EncryptedData><CipherData><CipherReference URI="${name}"/></CipherData></EncryptedData></encryption>`,
  })
  const items = '<item id="a" href="page%201.xhtml"/>'
  const page = { name: 'OEBPS/page 1.xhtml', content: '<p>Words</p>' }
  const book = (name: string) => epub(items, '<itemref idref="a"/>', [page, sealed(name)])
  t.equal(await read('a.epub', book('OEBPS/font.otf')), 'Words')
  t.match(await failed(read('a.epub', book('OEBPS/page%201.xhtml'))), { name: 'Unreadable', flaw: 'password' })
})
