import '../../fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { Unconfigured } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { Tool } from '../../../core/ports/tool.ts'
import image from '../../../plugins/readers/image.ts'
import pdf from '../../../plugins/readers/pdf.ts'
import getFileContentOCR from '../../../plugins/tools/getFileContentOCR.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { fitted } from '../../fitted.ts'

const skipFor = (program: string) => (spawnSync(program).error === undefined ? false : `no ${program} here`)

const made = () => fitted(use(image), use(pdf), use(getFileContentOCR)).supply({ tools: Tool }).tools[0]!
const opened = (bytes: Uint8Array) => ({ id: 'file_1', name: 'some', mime: 'application/octet-stream', bytes })
const fileOf = async (path: string) => opened(new Uint8Array(await readFile(`test/vectors/files/${path}`)))
const params = { fileId: 'file_1' }
const run = async (path: string): Promise<any> => {
  const it = made()
  if (it.kind !== 'reads-file') throw new Error('It reads no file')
  return it.run(params, AbortSignal.timeout(60_000), await fileOf(path))
}

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

t.test('without poppler the error names poppler', async (t) => {
  const path = process.env['PATH']
  process.env['PATH'] = '/nowhere'
  t.teardown(() => (process.env['PATH'] = path))
  const error: unknown = await run('pdf/text-then-scan.pdf').catch((error: unknown) => error)
  t.ok(error instanceof Unconfigured, 'as unconfigured')
  t.match(error, { validator: { pdftoppm: 'Expected to be installed' } })
})
