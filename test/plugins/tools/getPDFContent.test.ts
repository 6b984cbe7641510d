import '../../fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { constants, deflateSync } from 'node:zlib'
import t from 'tap'
import { BadRequest } from '../../../core/errors.ts'
import { readPdf } from '../../../plugins/readers/pdf/pdf.ts'
import pdf from '../../../plugins/readers/pdf.ts'
import getPDFContent from '../../../plugins/tools/getPDFContent.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { bytesOf, madeOf, opened, params, toolOf } from './tried.ts'
import { withoutPrograms } from '../../helpers.ts'

const skip = spawnSync('pdftoppm', ['-v']).status === 0 ? false : 'no poppler here'

const made = () => toolOf(pdf, getPDFContent)
const pdfOf = async (name: string) => asPdf(await bytesOf(`pdf/${name}.pdf`))
const asPdf = (bytes: Uint8Array) => opened(bytes, 'some.pdf', 'application/pdf')
const soon = () => AbortSignal.timeout(60_000)
const run = async (name: string, asked: object = {}) => madeOf(made(), await pdfOf(name), asked)

const report = [
  'Harbour report',
  'In the spring the harbour of Lübeck handled 4,218 containers, twelve per cent',
  'more than the year before.',
  'Ships and crews',
  'Größere Schiffe fahren über Föhr; für die Mannschaft gab es süße Äpfel, Öl und',
  'Brot.',
].join('\n')
const outlook = 'Outlook\nThe second quay opens in September. A naïve plan would cost 3.5 million euros.'

t.test('contract', async (t) => {
  const good = { params, file: await pdfOf('two-pages-with-headings-and-umlauts') }
  const bad = { params, file: asPdf(Buffer.from('words, not a PDF')) }
  await conform(t, tool.contract, () => ({ tool: made(), good, bad }))
})

t.test('reads the text layer, page by page', async (t) => {
  t.same(await run('two-pages-with-headings-and-umlauts'), {
    pageCount: 2,
    title: 'Harbour report',
    pages: [
      { number: 1, text: report, source: 'text' },
      { number: 2, text: outlook, source: 'text' },
    ],
    outline: [
      { title: 'Harbour report', level: 1 },
      { title: 'Ships and crews', level: 2 },
      { title: 'Outlook', level: 2 },
    ],
    truncated: false,
  })
  const second = await run('two-pages-with-headings-and-umlauts', { from: 2 })
  t.match(second.pages, [{ number: 2, text: outlook }])
  await t.rejects(run('two-pages-with-headings-and-umlauts', { from: 2, to: 1 }), BadRequest)
})

t.test('reads a scanned page by OCR', { skip }, async (t) => {
  const { pages, title, truncated } = await run('text-then-scan')
  t.same([pages[0], title, truncated], [{ number: 1, text: report, source: 'text' }, null, false])
  t.match(pages[1], {
    number: 2,
    source: 'ocr',
    text: /^Order 5521\s+Please send forty lanterns and nine coils of rope/,
  })
})

t.test('a scan in a script that no installed language reads names what would read it', { skip }, async (t) => {
  const { pages, missing } = await run('scan-in-russian')
  t.same(missing, [{ script: 'Cyrillic', language: 'rus', command: 'sealgate add ocr rus' }])
  t.match(pages, [{ number: 1, text: '' }], 'and gives no nonsense')
  t.notOk('missing' in (await run('text-then-scan')))
})

t.test('uncertain OCR never replaces the text of a page', { skip }, async (t) => {
  const strokes = Array.from({ length: 35 }, (_, at) => {
    const place = (step: number) => (at * step * 7919 + step * 104_729) % 170
    const points = [1, 5, 11, 17].map((step) => `${10 + place(step)} ${20 + place(step + 2)}`)
    return `${points[0]} m ${points.slice(1).join(' ')} c S`
  })
  const content = `BT /F 9 Tf 10 5 Td (Fig. 1) Tj ET ${strokes.join(' ')}`
  const { pages } = await readPdf({ bytes: pageOf(Buffer.from(content)) }, soon())
  t.same(pages, [{ number: 1, text: 'Fig. 1', source: 'text' }])
})

t.test('without poppler a scanned page stays empty, and that is said', async (t) => {
  withoutPrograms(t)
  const { pages, truncated } = await run('text-then-scan')
  t.same(pages[1], { number: 2, text: '', source: 'text' })
  t.same([pages[0].text, truncated], [report, true])
})

t.test('a PDF is unreadable when it needs a password, and readable when it only has one', async (t) => {
  await t.rejects(run('needs-a-password'), { name: 'Unreadable', validator: { password: 'Expected none' } })
  t.equal((await run('encrypted-without-password')).pages[0].text, report)
})

t.test('scripts and attachments are nothing but a PDF', async (t) => {
  const { pages, truncated } = await run('with-javascript-and-attachment')
  t.same([pages, truncated], [[{ number: 1, text: report, source: 'text' }], false])
})

t.test('reading ends at the wanted page and is marked', async (t) => {
  const bytes = (await pdfOf('two-pages-with-headings-and-umlauts')).bytes
  const short = await readPdf({ bytes }, soon(), { characters: 40 })
  t.same([short.pages, short.truncated], [[{ number: 1, text: report.slice(0, 40), source: 'text' }], true])
  const first = await readPdf({ bytes }, soon(), { pages: 1 })
  t.same([first.pages.length, first.pageCount, first.truncated], [1, 2, true])
})

/** A page whose content says nothing, at this many bytes. */
const bomb = (size: number): Buffer =>
  pageOf(
    deflateSync(deflateSync(Buffer.alloc(size, ' '), { level: constants.Z_BEST_SPEED })),
    '/Filter[/FlateDecode/FlateDecode]',
  )

/** A page with that content. */
const pageOf = (content: Buffer, filter = ''): Buffer => {
  const parts = ['%PDF-1.7\n']
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>',
    `<</Length ${content.length}${filter}>>stream\n${content.toString('latin1')}\nendstream`,
  ]
  const places = objects.map((object, at) => {
    const place = parts.join('').length
    parts.push(`${at + 1} 0 obj\n${object}\nendobj\n`)
    return `${place}`.padStart(10, '0')
  })
  const table = places.map((place) => `${place} 00000 n \n`).join('')
  const end = `xref\n0 5\n0000000000 65535 f \n${table}trailer<</Size 5/Root 1 0 R>>\nstartxref\n${parts.join('').length}\n%%EOF`
  return Buffer.from([...parts, end].join(''), 'latin1')
}

t.test('a stream that unpacks to half a gigabyte is not unpacked', async (t) => {
  const bytes = bomb(512 * 1024 * 1024)
  t.ok(bytes.length < 20_000, `${bytes.length} bytes`)
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5)
  const { pages, truncated } = await readPdf({ bytes }, soon(), { scans: 0 }).finally(() => clearInterval(watch))
  t.same([pages, truncated], [[{ number: 1, text: '', source: 'text' }], true])
  const grown = (most - before) / 1024 / 1024
  t.ok(grown < 300, `${grown.toFixed(0)} MB more`)
})
