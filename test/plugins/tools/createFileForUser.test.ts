import t from 'tap'
import * as v from 'valibot'
import { BadRequest } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { Tool, type MadeFile } from '../../../core/ports/tool.ts'
import { readDocument } from '../../../plugins/readers/document.ts'
import { readPdf } from '../../../plugins/readers/pdf/pdf.ts'
import { readSlides } from '../../../plugins/readers/slides.ts'
import { readSheets } from '../../../plugins/readers/spreadsheet.ts'
import createFileForUser from '../../../plugins/tools/createFileForUser.ts'
import { mimes } from '../../../plugins/tools/createFileForUser/formats.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { fitted } from '../../fitted.ts'
import { turnsDuring } from '../../turns-during.ts'

const maker = fitted(use(createFileForUser)).supply({ tools: Tool }).tools[0]!
const note = { fileName: 'note', fileExtension: 'txt', fileContent: 'Grüße 🎉\n', mimeType: 'text/plain' }
const mebibyte = 1024 * 1024

const make = async (more: Partial<typeof note> = {}): Promise<MadeFile> => {
  if (maker.kind !== 'makes-file') throw new Error(maker.kind)
  return maker.run(v.parse(maker.params, { ...note, ...more }), AbortSignal.timeout(5000))
}

t.test('contract', (t) =>
  conform(t, tool.contract, () => ({
    tool: maker,
    good: { params: note },
    bad: { params: { ...note, fileContent: 'ä'.repeat(5 * mebibyte + 1) } },
  })),
)

t.test('text stays text', async (t) => {
  const { name, mime, bytes } = await make()
  t.same([name, mime, Buffer.from(bytes).toString('utf8')], ['note.txt', 'text/plain', 'Grüße 🎉\n'])
  for (const mimeType of ['application/json', 'image/svg+xml', 'text/csv; charset=utf-8', 'application/x-yaml']) {
    const made = await make({ mimeType, fileContent: 'aGVsbG8=' })
    t.equal(String(made.bytes), 'aGVsbG8=', `${mimeType} is not decoded`)
    t.equal(made.mime, mimeType.split(';')[0])
  }
  t.equal(String((await make({ mimeType: 'application/x-own', fileContent: 'My report' })).bytes), 'My report')
})

t.test('base64 of a binary type is decoded', async (t) => {
  const bytes = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  const base64 = bytes.toString('base64')
  for (const fileContent of [
    base64,
    `data:image/png;base64,${base64}`,
    ` ${base64.slice(0, 4)}\r\n${base64.slice(4)}\n`,
  ])
    t.same([...(await make({ mimeType: 'image/png', fileContent })).bytes], [...bytes])
  const large = Buffer.alloc(10 * mebibyte, 7).toString('base64')
  t.equal((await make({ mimeType: 'application/x-tar', fileContent: large })).bytes.length, 10 * mebibyte)
  const more = Buffer.alloc(10 * mebibyte + 1).toString('base64')
  const fault = await make({ mimeType: 'application/x-tar', fileContent: more }).catch((error: unknown) => error)
  t.ok(fault instanceof BadRequest, 'a byte more is too much')
  t.match(fault, { validator: { fileContent: 'Expected at most 10 MiB' } })
})

t.test('long base64 is read in turns of the loop, with a line end at each of their borders', async (t) => {
  const bytes = Buffer.alloc(3 * mebibyte, 'a line of bytes')
  const base64 = bytes.toString('base64')
  for (const end of ['\n', '\r\n']) {
    const fileContent = base64.slice(0, 256 * 1024 - 1) + end + base64.slice(256 * 1024 - 1)
    const turns = await turnsDuring(async () => {
      t.ok(bytes.equals((await make({ mimeType: 'application/x-tar', fileContent })).bytes))
    })
    t.ok(turns >= 15, `${turns} turns`)
  }
  for (const wrong of ['=', 'AB==CD==', 'A===', 'AAAA\rAAAA'])
    await t.rejects(make({ mimeType: 'application/zip', fileExtension: 'zip', fileContent: wrong }), BadRequest)
})

t.test('blank lines of a text cost a line of time', async (t) => {
  const fileContent = `a${'\n'.repeat(60_000)}b`
  const begun = process.cpuUsage().user
  await make({ fileExtension: 'xlsx', mimeType: mimes.xlsx, fileContent }).catch(() => undefined)
  t.ok(process.cpuUsage().user - begun < 1_500_000)
})

t.test('text becomes a file that its readers open, or none', async (t) => {
  const text = 'The lamp is lit.'
  const made = async (fileExtension: string, mimeType: string, fileContent = text) =>
    make({ fileName: 'report', fileExtension, fileContent, mimeType })
  const soon = () => AbortSignal.timeout(60_000)
  for (const type of [mimes.docx, 'application/octet-stream', 'text/plain']) {
    const file = await made('docx', type)
    t.match(JSON.stringify(await readDocument(file, soon())), text, type)
    t.same([file.name, file.mime], ['report.docx', mimes.docx])
  }
  t.match(JSON.stringify(await readPdf(await made('pdf', 'Application/PDF'), soon())), text)
  t.match(JSON.stringify(await readSlides(await made('pptx', mimes.pptx), soon())), text)
  const rowsOf = async (content: string) =>
    (await readSheets(await made('xlsx', mimes.xlsx, content), soon())).sheets.map(({ rows }) => rows)
  t.same(await rowsOf('a,b\n1,2'), await rowsOf('| a | b |\n| - | - |\n| 1 | 2 |'), 'rows are CSV, a table is Markdown')
  const whole = await made('docx', mimes.docx)
  const again = await made('docx', mimes.docx, Buffer.from(whole.bytes).toString('base64'))
  t.same(Buffer.from(again.bytes), Buffer.from(whole.bytes), 'a whole file in base64 stays as it is')
  for (const [extension, read] of [
    ['docx', readDocument],
    ['xlsx', readSheets],
    ['pdf', readPdf],
  ] as const)
    // prettier-ignore
    t.match(JSON.stringify(await read(await made(extension, mimes[extension], 'Done\nGood'), soon())), 'Done', 'words')
  const refused: readonly (readonly [string, string, string])[] = [
    ['docx', mimes.docx, 'Done'.repeat(17)],
    ['png', 'image/png', 'Done'],
    ['png', 'image/png', text],
    ['png', 'image/png', 'TGFtcHM='],
    ['pdf', 'application/pdf', 'TGFtcHM='],
    ['docx', 'application/pdf', text],
    ['mp3', 'audio/mpeg', text],
    ['txt', 'text/plain', ''],
    ['docx', mimes.docx, ' \n'],
  ]
  for (const [extension, mime, content] of refused) {
    const fault = await made(extension, mime, content).catch((error: unknown) => error)
    t.match(fault, { status: 400, validator: { fileContent: /^Expected / } }, `${extension} ${mime}`)
  }
})

t.test('names that any file system takes', async (t) => {
  const named = async (fileName: string, fileExtension = 'txt') => (await make({ fileName, fileExtension })).name
  t.equal(await named('report.md', '.md'), 'report.md', 'the extension once')
  t.equal(await named('Report.MD', 'md'), 'Report.md')
  t.equal(await named('archive', 'tar.gz'), 'archive.tar.gz')
  t.equal(await named('v1.2 notes', 'md'), 'v1.2 notes.md')
  t.equal(await named('LICENSE', ''), 'LICENSE')
  t.equal(await named('../../etc/passwd'), 'passwd.txt')
  t.equal(await named('C:\\Windows\\evil'), 'evil.txt')
  t.equal(await named('note', '/../sh'), 'note.sh')
  t.equal(await named('a\u0000b\r\nc\u202e\u2066d:e?'), 'abcd_e_.txt')
  for (const nothing of ['', '..', ' . ', '/', '.txt', '\u202e'])
    t.equal(await named(nothing), 'file.txt', `from ${JSON.stringify(nothing)}`)
  for (const device of ['CON', 'nul', 'com1', 'Lpt9.tar']) t.equal(await named(device), `_${device}.txt`)
  t.equal(await named('e\u0301te\u0301 👩‍🚀'), 'été 👩‍🚀.txt')
  const long = await named('😀'.repeat(100), 'html')
  t.equal(long, `${'😀'.repeat(48)}.html`, 'whole characters')
  t.ok(Buffer.byteLength(await named('ü'.repeat(500))) <= 200)
  t.throws(() => v.parse(maker.params, { ...note, mimeType: 'no type' }))
})
