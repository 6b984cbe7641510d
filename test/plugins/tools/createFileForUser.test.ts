import t from 'tap'
import * as v from 'valibot'
import { BadRequest } from '../../../core/errors.ts'
import { use } from '../../../core/plugin.ts'
import { Tool, type MadeFile } from '../../../core/ports/tool.ts'
import createFileForUser from '../../../plugins/tools/createFileForUser.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { fitted } from '../../fitted.ts'

const it = fitted(use(createFileForUser)).supply({ tools: Tool }).tools[0]!
const note = { fileName: 'note', fileExtension: 'txt', fileContent: 'Grüße 🎉\n', mimeType: 'text/plain' }
const mebibyte = 1024 * 1024

const make = async (more: Partial<typeof note> = {}): Promise<MadeFile> => {
  if (it.kind !== 'makes-file') throw new Error(it.kind)
  return it.run(v.parse(it.params, { ...note, ...more }), AbortSignal.timeout(5000))
}

t.test('contract', (t) =>
  conform(t, tool.contract, () => ({
    tool: it,
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
  t.equal((await make({ mimeType: 'Application/PDF', fileContent: 'My report' })).mime, 'application/pdf')
  t.equal(String((await make({ mimeType: 'application/pdf', fileContent: 'My report' })).bytes), 'My report')
  t.equal((await make({ fileContent: '' })).bytes.length, 0)
})

t.test('base64 of a binary type is decoded', async (t) => {
  const bytes = Buffer.from([0x89, 0x50, 0, 255, 1])
  const base64 = bytes.toString('base64')
  for (const fileContent of [
    base64,
    `data:image/png;base64,${base64}`,
    ` ${base64.slice(0, 4)}\r\n${base64.slice(4)}\n`,
  ])
    t.same([...(await make({ mimeType: 'image/png', fileContent })).bytes], [...bytes])
  const large = Buffer.alloc(10 * mebibyte, 7).toString('base64')
  t.equal((await make({ mimeType: 'application/zip', fileContent: large })).bytes.length, 10 * mebibyte)
  const more = Buffer.alloc(10 * mebibyte + 1).toString('base64')
  const fault = await make({ mimeType: 'application/zip', fileContent: more }).catch((it: unknown) => it)
  t.ok(fault instanceof BadRequest, 'a byte more is too much')
  t.match(fault, { validator: { fileContent: 'Expected at most 10 MiB' } })
})

t.test('names that any file system takes', async (t) => {
  const named = async (fileName: string, fileExtension = 'txt') => (await make({ fileName, fileExtension })).name
  t.equal(await named('report.pdf', '.pdf'), 'report.pdf', 'the extension once')
  t.equal(await named('Report.PDF', 'pdf'), 'Report.pdf')
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
  t.throws(() => v.parse(it.params, { ...note, mimeType: 'no type' }))
})
