import '../../fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import t from 'tap'
import * as v from 'valibot'
import { Unconfigured } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { Reader } from '../../../core/ports/reader.ts'
import image from '../../../plugins/readers/image.ts'
import pdf from '../../../plugins/readers/pdf.ts'
import getFileContentOCR from '../../../plugins/tools/getFileContentOCR.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { fitted } from '../../fitted.ts'
import { bytesOf, madeOf, opened, params, toolOf } from './tried.ts'
import { withoutPrograms } from '../../helpers.ts'

const skipFor = (program: string) => (spawnSync(program).error === undefined ? false : `no ${program} here`)

const made = () => toolOf(image, pdf, getFileContentOCR)
const fileOf = async (path: string) => opened(await bytesOf(path))
const run = async (path: string, more = {}) => madeOf(made(), await fileOf(path), more, AbortSignal.timeout(120_000))

t.test('contract', async (t) => {
  const good = { params, file: await fileOf('image/black-on-transparent.png') }
  const bad = { params, file: opened(Buffer.from('words, not an image')) }
  await conform(t, tool.contract, () => ({ tool: made(), good, bad }))
})

t.test('reads each page of a fax', { skip: skipFor('ffmpeg') }, async (t) => {
  const { pages, truncated } = await run('image/two-pages-of-fax.tiff')
  t.match(pages, [
    { number: 1, text: /^Harbour report\s+In the spring the harbour of .* handled 4,218 containers, twelve per cent/ },
    { number: 2, text: /^Outlook\s+The second quay opens in September/ },
  ])
  t.same([pages.length, truncated], [2, false])
})

t.test('OCR reads every page of a PDF, also pages with a text layer', { skip: skipFor('pdftoppm') }, async (t) => {
  const { pages, truncated } = await run('pdf/text-then-scan.pdf')
  t.match(pages, [
    { number: 1, text: /twelve per cent\nmore than the year before/ },
    { number: 2, text: /The keeper signs for the parcels at the northern gate/ },
  ])
  for (const { confidence } of pages) t.ok(confidence > 0.7 && confidence <= 1, `${confidence}`)
  t.same([pages.length, truncated], [2, false])
})

t.test('reading goes on from a page', { skip: skipFor('pdftoppm') || skipFor('ffmpeg') }, async (t) => {
  const later = await run('pdf/text-then-scan.pdf', { from: 2 })
  t.match(later, { pages: [{ number: 2, text: /The keeper signs for the parcels/ }], truncated: false })
  t.equal(later.pages.length, 1)
  const fax = await run('image/two-pages-of-fax.tiff', { from: 2 })
  t.match(fax, { pages: [{ number: 2, text: /^Outlook/ }], truncated: false })
  t.equal(fax.pages.length, 1)
  for (const path of ['pdf/text-then-scan.pdf', 'image/two-pages-of-fax.tiff'])
    t.match(await run(path, { from: 3 }), { pages: [], truncated: false }, `${path} has no third page`)
  const seen = async (path: string, reader: typeof pdf | typeof image) =>
    fitted(use(reader)).supply({ readers: Reader }).readers[0]!.see!(await fileOf(path), 1, AbortSignal.timeout(60_000))
  t.match(await seen('pdf/text-then-scan.pdf', pdf), { pages: { length: 1 }, truncated: true }, 'a page is left')
  t.match(await seen('image/two-pages-of-fax.tiff', image), { pages: { length: 1 }, truncated: true })
})

t.test('without poppler the error names poppler', async (t) => {
  withoutPrograms(t)
  const error: unknown = await run('pdf/text-then-scan.pdf').catch((error: unknown) => error)
  t.ok(error instanceof Unconfigured, 'as unconfigured')
  t.match(error, { validator: { pdftoppm: 'Expected to be installed' } })
})

t.test('reads in the languages that are asked for, and says which', async (t) => {
  const { pages, languages } = await run('image/black-on-transparent.png', { languages: ['eng'] })
  t.same(languages, ['eng'])
  t.ok(pages[0].confidence > 0)
  t.same((await run('image/black-on-transparent.png')).languages, ['eng'], 'English where none is named')
  const error: unknown = await run('image/black-on-transparent.png', { languages: ['eng', 'xxx'] }).catch(
    (error: unknown) => error,
  )
  t.ok(error instanceof Unconfigured, 'a language without data is refused')
  const missing = '@tesseract.js-data/xxx'
  t.match(error, { validator: { [missing]: `Expected to be installed: npm i ${missing}@~1.0` } })
  for (const languages of [[], ['../eng'], ['eng/..'], ['ENG'], ['english'], ['a', 'b', 'c', 'd', 'e'], 'eng'])
    t.notOk(v.safeParse(made().params, { ...params, languages }).success, JSON.stringify(languages))
})

t.test(
  'a script that no installed language reads is named, with what installs one',
  { skip: skipFor('ffmpeg') },
  async (t) => {
    const missing = [{ script: 'Cyrillic', language: 'rus', command: 'sealgate add ocr rus' }]
    const told = await run('image/harbour-in-russian.png')
    t.same([told.missing, told.languages, told.pages[0].language], [missing, ['eng'], 'eng'])
    t.notOk(
      'missing' in (await run('image/harbour-in-russian.png', { languages: ['eng'] })),
      'a caller names languages',
    )
    t.notOk('missing' in (await run('image/order.png')), 'English is installed')
  },
)

t.test('an operator sets the languages of readers', async (t) => {
  const reader = image.create({}, { languages: ['xxx'] }, 'image')
  const picture = await fileOf('image/black-on-transparent.png')
  t.same((await reader.read(picture, AbortSignal.timeout(60_000))).sections, [], 'as without an engine')
  const error: unknown = await reader.see?.(picture, 1, AbortSignal.timeout(60_000)).catch((error: unknown) => error)
  t.ok(error instanceof Unconfigured)
  t.same(
    (await reader.see?.(picture, 1, AbortSignal.timeout(60_000), ['eng']))?.languages,
    ['eng'],
    'a caller names others',
  )
})
