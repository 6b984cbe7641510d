import '../../../fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { Unreadable } from '../../../../core/errors.ts'
import { runApart } from '../../../../plugins/shared/run-apart.ts'
import type { Document } from '../../../../core/ports/file-content.ts'
import { readDocument } from '../../../../plugins/readers/document.ts'
import { kindOf } from '../../../../plugins/readers/shared/file-kind.ts'
import { guardMarkup, scanXml } from '../../../../plugins/readers/shared/markup.ts'
import { readSlides } from '../../../../plugins/readers/slides.ts'
import { unzip } from '../../../../plugins/shared/zip.ts'
import { docx, docxOf, epub, wordParts } from '../../../fakes/documents.ts'
import { zipOf } from '../../../fakes/zip.ts'

const stored = (path: string) => readFile(`test/vectors/files/${path}`)
const read = async (path: string, mime = 'application/octet-stream') =>
  readDocument({ name: path, mime, bytes: await stored(path) }, AbortSignal.timeout(20_000))
const readText = (text: string | Uint8Array, name: string) =>
  readDocument({ name, mime: '', bytes: Buffer.from(text as string) }, AbortSignal.timeout(20_000))
const under = (document: Document, heading: string | null) =>
  document.sections.find((section) => section.heading === heading)?.text

t.test('a document of LibreOffice has the same text in every format', async (t) => {
  for (const format of ['docx', 'odt', 'rtf', 'html']) {
    const document = await read(`${format}/harvest.${format}`)
    t.match(document, { format, title: 'Bericht über Äpfel', truncated: false }, format)
    t.same(
      document.sections.map(({ heading }) => heading),
      ['Ernte und Lager', 'Sorten', 'Mengen'],
      `${format}: headings`,
    )
    t.match(
      under(document, 'Ernte und Lager'),
      /^Die Ernte war größer als im Vorjahr\[1\], sagt der Verband\.(\n|$)/,
      format,
    )
    t.match(
      under(document, 'Sorten'),
      /^- Boskoop\n- Elstar\n  - früh\n  - spät\nSo wird gearbeitet:\n3\. pflücken\n4\. lagern\n/,
      format,
    )
    t.match(under(document, 'Sorten'), /\n  a[.)] kühl\n  b[.)] dunkel\n5\. verkaufen$/, `${format}: numbers`)
    t.match(
      under(document, 'Mengen'),
      /^Sorte \| Tonnen \| Preis \(€\)\nBoskoop \| 12,5 \| 1,80\nElstar \|  \| 2,10 ab Hof\n/,
      `${format}: table`,
    )
    t.match(under(document, 'Mengen'), /Und „Anführung“ — 日本語\./, `${format}: letters`)
    const all = JSON.stringify(document.sections)
    t.match(all, /\[1\] ?Gezählt wurde im Oktober\.|1Gezählt/, `${format}: footnote`)
    t.notMatch(all, /KOMMENTAR|GELÖSCHT/, `${format}: nothing that is not in the text`)
  }
  const book = await read('epub/harvest.epub')
  t.match(book, { format: 'epub', title: 'Bericht über Äpfel' }, 'epub')
  t.match(
    under(book, null),
    /größer als im Vorjahr\[1\].*\n[^]*Boskoop \| 12,5 \| 1,80\n[^]*\[1\]Gezählt/,
    'epub: text',
  )
})

t.test('a book is read in the order of its spine', async (t) => {
  const page = (body: string) =>
    `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>${body}</body></html>`
  const document = await readText(
    epub(
      '<item id="a" href="a%20b.xhtml"/><item id="b" href="b.xhtml"/><item id="n" href="n.xhtml" properties="nav"/>',
      '<itemref idref="b"/><itemref idref="a"/>',
      [
        {
          name: 'OEBPS/a b.xhtml',
          content: page('<h1>Zweites</h1><a id="x"/><script src="x"/><p>Ende&nbsp;&auml;</p>').replace(
            '<title>x</title>',
            '<title/>',
          ),
        },
        { name: 'OEBPS/b.xhtml', content: page('<h1>Erstes</h1><p>Anfang</p><script>no()</script>') },
        { name: 'OEBPS/n.xhtml', content: page('<p>Inhalt</p>') },
      ],
    ),
    'book',
  )
  t.same(
    document,
    {
      format: 'epub',
      title: 'Das Buch & mehr',
      sections: [
        { heading: 'Erstes', text: 'Anfang' },
        { heading: 'Zweites', text: 'Ende ä' },
      ],
      truncated: false,
    },
    'pages in order, without a table of contents that is no page',
  )
})

t.test('plain texts', async (t) => {
  for (const name of ['harvest', 'harvest-utf-16', 'harvest-windows-1252']) {
    const text = under(await read(`txt/${name}.txt`), null)
    t.match(text, /^Ernte und Lager\nDie Ernte war größer[^]*Preis \(€\)[^]*„Anführung“ —/, name)
  }
  const markdown = await read('md/harvest.md')
  t.match(markdown, { format: 'md', title: 'Bericht über Äpfel' }, 'front matter')
  t.same(
    markdown.sections.map(({ heading }) => heading),
    [null, 'Ernte und Lager', 'Sorten', 'Ausblick'],
    'headings',
  )
  t.match(under(markdown, 'Sorten'), /# kein Titel\necho '<!-- bleibt -->'/, 'code is left alone')
  t.notMatch(under(markdown, null), /lesen/, 'comments are left out')
  const page = await readText(
    '<title>A</title><style>x</style><!-- y --><p>One<br>two <del>z</del><svg><text>z</text></svg><p hidden>z<pre>a\n  b</pre><table><tr><td><h2>In</h2><table><tr><td>1<td>2</table><td>side</table>',
    'page.html',
  )
  t.same(
    page.sections,
    [{ heading: null, text: 'One\ntwo\na\n  b\nIn\n1 | 2\nside' }],
    'tables that lay out are no data',
  )
})

t.test('nothing is said twice, and nothing that is no text', async (t) => {
  const dated = (body: string) =>
    `<office:document-content><number:date-style><number:text>/</number:text></number:date-style><office:body><office:text>${body}</office:text></office:body></office:document-content>`
  const odt = zipOf([
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.text' },
    { name: 'content.xml', content: dated('<text:p>Silben\u00adtrennung</text:p>') },
  ])
  t.same((await readText(odt, '')).sections, [{ heading: null, text: 'Silbentrennung' }], 'odt')
  const word = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`
  const ruby = `<w:p><w:r><w:ruby><w:rt>${word('とうきょう')}</w:rt><w:rubyBase>${word('東京')}</w:rubyBase></w:ruby></w:r></w:p>`
  t.same((await readText(docx(ruby), '')).sections, [{ heading: null, text: '東京' }], 'docx')
  const page = await readText('<p><ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>', 'page.html')
  t.same(page.sections, [{ heading: null, text: '東京' }], 'html')
})

t.test('the bytes decide the kind of a file', async (t) => {
  t.match(await readText(await stored('docx/harvest.docx'), ''), { format: 'docx' }, 'no name')
  t.match(await readText(await stored('docx/harvest.docx'), 'harvest.odt'), { format: 'docx' }, 'a wrong name')
  t.match(await readText(await stored('rtf/harvest.rtf'), 'harvest.doc'), { format: 'rtf' }, 'another wrong name')
  t.match(await readText('<!DOCTYPE html><p>x', 'x'), { format: 'html' }, 'a page without a name')
  t.match(await readText('just text', ''), { format: 'txt', sections: [{ heading: null, text: 'just text' }] }, 'text')
  await refused(t, { 'slides as a document': await stored('pptx/orchard.pptx') })
})

t.test('a text that begins with BM, or mentions the mark of a PDF, stays a text', async (t) => {
  const kind = (name: string, mime: string, bytes: string | Uint8Array) =>
    kindOf({ name, mime, bytes: Buffer.from(bytes as string) })
  t.equal(kind('a.csv', 'text/csv', 'BMI,age,weight\n22.5,40,70\n'), 'spreadsheet')
  t.equal(kind('', '', 'BMW and Audi make cars, and so do many others.'), 'document')
  t.equal(kind('', '', await stored('image/order.bmp')), 'image')
  const mention = 'Every such file begins with %PDF-1.4, and goes on with numbers.'
  t.equal(kind('a.MD', '', mention), 'document')
  t.equal(kind('a', 'text/plain', mention), 'document')
  t.equal(kind('a.eml', '', `Subject: ${mention}`), 'document')
  t.equal(kind('a.txt', 'text/plain', '%PDF-1.4\n'), 'pdf', 'first bytes count more than names')
  t.equal(kind('a.pdf', 'application/pdf', '\r\nsome words\r\n%PDF-1.4\n'), 'pdf', 'a PDF with bytes before its mark')
})

t.test('a text over the limit is cut and marked', async (t) => {
  const long = await readText('Wort und '.repeat(300_000), 'long.txt')
  t.match(long, { truncated: true }, 'text')
  t.equal(long.sections[0]!.text.length, 2_000_000, 'two million characters')
  const paragraph = '<w:p><w:r><w:t>Ein Satz von vielen.</w:t></w:r></w:p>'
  const document = await readText(docx(paragraph.repeat(110_000)), 'long.docx')
  t.match(document, { format: 'docx', truncated: true }, 'docx')
})

t.test('slides come in the order of the presentation', async (t) => {
  const bytes = await stored('pptx/orchard.pptx')
  const parts = await unzip(bytes, () => true)
  const turned = [...parts].map(([name, content]) => ({
    name,
    content: name === 'ppt/presentation.xml' ? turnedAround(Buffer.from(content).toString()) : content,
  }))
  const titles = async (file: Uint8Array) =>
    (await readSlides({ name: '', mime: '', bytes: file }, AbortSignal.timeout(20_000))).slides.map(
      ({ title }) => title,
    )
  const order = ['Der Obstgarten', 'Erträge', 'Versteckt', null]
  t.same(await titles(bytes), order, 'as they were made')
  t.same(await titles(zipOf(turned)), order.toReversed(), 'turned around')
  t.same(await titles(await stored('odp/orchard.odp')), order, 'odp')
})

t.test('broken files are unreadable', async (t) => {
  const docxBytes = await stored('docx/harvest.docx')
  const rtf = await stored('rtf/harvest.rtf')
  const whole = Buffer.from(docxBytes)
  const middle = whole.indexOf('word/document.xml') + 200
  await refused(t, {
    'half a docx': whole.subarray(0, whole.length / 2),
    'a docx with other bytes in it': Buffer.concat([
      whole.subarray(0, middle),
      Buffer.alloc(40, 7),
      whole.subarray(middle + 40),
    ]),
    'half an rtf': rtf.subarray(0, rtf.length / 2),
    'half of its markup': docxOf({ content: '<w:document><w:body><w:p>' }),
    'markup that is not closed as it was opened': docxOf({ content: '<w:document><w:body></w:document></w:body>' }),
    'no text': Uint8Array.from({ length: 5_000 }, (_, at) => (at * 7919) % 251),
    'an empty file': new Uint8Array(0),
  })
  await t.rejects(readText('only text', 'text.docx'), { name: 'Unreadable' }, 'text that says it is a docx')
})

t.test('an unreadable file names the known reason', async (t) => {
  const flaws = { 'odt/locked.odt': 'password', 'docx/locked.docx': 'password' }
  for (const [path, flaw] of Object.entries(flaws))
    await t.rejects(read(path), { name: 'Unreadable', validator: { [flaw]: String } }, path)
  const sealed = Buffer.from(zipOf([{ name: 'mimetype', content: 'application/epub+zip' }]))
  sealed[6]! |= 1
  await t.rejects(readText(sealed, 'a.epub'), { name: 'Unreadable', validator: { password: String } }, 'an archive')
  await t.rejects(readText('only text', 'text.docx'), { name: 'Unreadable', validator: null })
})

t.test('bombs are unreadable, soon and in little memory', async (t) => {
  const huge = { content: ' '.repeat(1_000_000), times: 300 }
  const bomb = docxOf(huge)
  const liar = docxOf({ ...huge, says: 1_000 })
  t.ok(bomb.length < 350_000, `${bomb.length} bytes`)
  const laughs = `<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(50)}">]>`
  const same = Array.from({ length: 200 }, (_, at) => ({
    name: `${at}.xml`,
    content: huge.content,
    again: at > 0,
  }))
  const page = { name: 'OEBPS/a.xhtml', content: `${laughs}<html><body>&b;</body></html>` }
  await refused(t, {
    'a docx of 300 MB': bomb,
    'one that says it is small': liar,
    'files that are the same bytes': zipOf([...wordParts, ...same]),
    'too many files': zipOf(Array.from({ length: 10_001 }, (_, at) => ({ name: `${at}`, content: '' }))),
    'entities in a docx': docxOf({ content: `${laughs}<w:document>&b;</w:document>` }),
    'entities in a book': epub('<item id="a" href="a.xhtml"/>', '<itemref idref="a"/>', [page]),
    'deep markup': docx('<w:p>'.repeat(100_000)),
    'deep groups': Buffer.from(`{\\rtf1${'{'.repeat(500_000)}`),
    'a deep page': Buffer.from(`<html>${'<div>'.repeat(500_000)}`),
  })
})

t.test('an archive with false sizes is not unpacked', async (t) => {
  const content = Buffer.alloc(1_000_000)
  const sound = zipOf([
    { name: 'a', content },
    { name: 'b', content: 'text' },
  ])
  const all = (bytes: Uint8Array, most?: Parameters<typeof unzip>[2]) => unzip(bytes, () => true, most)
  await t.resolves(all(sound), 'a sound one')
  t.equal(Buffer.from((await unzip(sound, (name) => name === 'b')).get('b')!).toString(), 'text', 'only what is wanted')
  await t.rejects(all(sound, { bytes: 999_999 }), Unreadable, 'too much')
  await t.rejects(all(sound, { entries: 1 }), Unreadable, 'too many')
  await t.rejects(all(zipOf([{ name: 'a', content, says: 10 }])), Unreadable, 'more than it says')
  await t.rejects(all(zipOf([{ name: 'a', content, says: 2_000_000 }])), Unreadable, 'less than it says')
  const twice = [
    { name: 'a', content: 'text' },
    { name: 'b', content: '', again: true },
  ]
  await t.rejects(all(zipOf(twice)), Unreadable, 'the same bytes twice')
  await t.rejects(all(zipOf([{ name: '../a', content }])), Unreadable, 'names that lead away')
  await t.rejects(all(Buffer.from('no archive')), Unreadable, 'no archive')
})

t.test('markup', async (t) => {
  const texts: string[] = []
  const attributes: (string | null)[] = []
  scanXml(
    Buffer.from(
      `<?xml version="1.0"?><a:b id="1" r:id='2>"&#228;' x="&lt;"><!-- <c> --><c/>&amp;&#x1F34E;<![CDATA[<d>]]></a:b>\n`,
    ),
    {
      open: (name, attribute) => void attributes.push(name, attribute('id'), attribute('x')),
      text: (text, within) => void texts.push(text, within),
    },
  )
  t.same(attributes, ['b', '2>"ä', '<', 'c', null, null], 'names and attributes')
  t.same(texts, ['&🍎', 'b', '<d>', 'b'], 'texts')
  for (const wrong of [
    '',
    'x',
    '<a>',
    '<a></b>',
    '<a/><b/>',
    '<a',
    '<a b="></a>',
    '<a/>x',
    '</a>',
    '<a b></a',
    '<!DOCTYPE a><a/>',
  ])
    t.throws(() => scanXml(Buffer.from(wrong), {}), Unreadable, wrong)
  t.doesNotThrow(() => guardMarkup('<!DOCTYPE html PUBLIC "x"><html/>', 'plain'), 'a DOCTYPE that defines nothing')
  t.throws(() => guardMarkup('<!DOCTYPE html [<!ENTITY a "b">]><html/>', 'plain'), Unreadable, 'one that does')
})

t.test('a parser that never ends is stopped', async (t) => {
  const never = '../test/fakes/endless'
  const none = AbortSignal.timeout(20_000)
  await t.rejects(runApart(never, null, none, { time: 300 }), Unreadable, 'by time')
  const reason = new Error('left')
  const leaving = new AbortController()
  const working = runApart(never, null, leaving.signal)
  setImmediate(() => leaving.abort(reason))
  await t.rejects(working, reason, 'by the one who asked')
  await t.rejects(
    readDocument({ name: '', mime: '', bytes: Buffer.from('x') }, AbortSignal.abort(reason)),
    reason,
    'before',
  )
})

const refused = async (t: Test, files: Readonly<Record<string, Uint8Array>>) => {
  for (const [what, bytes] of Object.entries(files)) {
    const [start, memory] = [performance.now(), process.memoryUsage().rss]
    let most = memory
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 10)
    const reading = readDocument({ name: '', mime: '', bytes }, AbortSignal.timeout(20_000))
    await t.rejects(reading, { name: 'Unreadable', status: 400 }, what)
    clearInterval(watch)
    const [took, rise] = [performance.now() - start, (most - memory) / 1_000_000]
    // A busy machine stretches what any file takes.
    const began = performance.now()
    await readDocument({ name: 'a.txt', mime: '', bytes: Buffer.from('x') }, AbortSignal.timeout(20_000))
    const least = performance.now() - began
    t.ok(took < 2_000 + 10 * least && rise < 150, `${what}: ${Math.round(took)} ms, ${Math.round(rise)} MB`)
  }
}

const turnedAround = (presentation: string): string =>
  presentation.replace(/(<p:sldIdLst>)(.*?)(<\/p:sldIdLst>)/s, (_, start: string, list: string, end: string) => {
    const slides = list.match(/<p:sldId .*?(\/>|<\/p:sldId>)/gs) ?? []
    return start + slides.reverse().join('') + end
  })
