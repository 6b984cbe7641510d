import '../../../fakes/unwatched.ts'
import t from 'tap'
import { Unreadable } from '../../../../core/errors.ts'
import type { Contents } from '../../../../core/ports/file-content.ts'
import { openCompound } from '../../../../plugins/readers/shared/compound.ts'
import document from '../../../../plugins/readers/document.ts'
import { compoundOf } from '../../../fakes/compound.ts'
import { file, made, soon, stored } from '../tried.ts'

const read = async (bytes: Uint8Array) =>
  (await made(document).read(file('harvest.doc', bytes), soon())).content as Contents['document']

t.test('a Word document of 2003 is read with its headings, tables, links and comments', async (t) => {
  const content = await read((await stored('doc/harvest.doc')).bytes)
  t.match(content, {
    format: 'doc',
    links: [{ url: 'https://example.com/jahr', text: 'der Verband' }],
    comments: [{ author: null, text: 'KOMMENTAR' }],
  })
  t.same(
    content.sections.map(({ heading }) => heading),
    ['Ernte und Lager', 'Sorten', 'Mengen'],
  )
  const [harvest, , amounts] = content.sections.map(({ text }) => text)
  t.equal(harvest, 'Die Ernte war größer als im Vorjahr, sagt der Verband.', 'deleted words are left out')
  t.match(amounts, /^Sorte \| Tonnen \| Preis \(€\)\nBoskoop \| 12,5 \| 1,80\nElstar \|  \| 2,10 ab Hof\n/)
  t.match(amounts, /„Anführung“ — 日本語\.\n\s*Gezählt wurde im Oktober\./, 'footnotes follow the text')
})

t.test('a Word document that holds a workbook stays a document', async (t) => {
  const word = openCompound((await stored('doc/harvest.doc')).bytes)
  const both = { 'ObjectPool/Workbook': Buffer.from('cells') }
  const streams = Object.fromEntries(['WordDocument', '1Table', '0Table'].flatMap((it) => part(word.stream(it), it)))
  const bytes = compoundOf({ ...streams, ...both })
  t.equal(made(document).fits(file('a', bytes)), true)
  t.match(await read(bytes), { format: 'doc', sections: [{ heading: 'Ernte und Lager' }] })
})

t.test('a Word document that is encrypted or broken says so', async (t) => {
  const word = openCompound((await stored('doc/harvest.doc')).bytes)
  const main = Buffer.from(word.stream('WordDocument')!)
  main[0x0b]! |= 1
  await t.rejects(read(compoundOf({ WordDocument: main })), { name: 'Unreadable', validator: { password: String } })
  main[0x0b]! &= ~1
  await t.rejects(read(compoundOf({ WordDocument: main })), { name: 'Unreadable' }, 'without its table')
  await t.rejects(read(compoundOf({ WordDocument: main.subarray(0, 100) })), { name: 'Unreadable' }, 'cut short')
  main.writeUInt32LE(0xffffff00, 0x1a2)
  const table = word.stream('1Table') ?? word.stream('0Table')!
  await t.rejects(read(compoundOf({ WordDocument: main, '1Table': table, '0Table': table })), { name: 'Unreadable' })
})

t.test('sectors that lead in a circle end in a refusal', async (t) => {
  const bytes = compoundOf({ WordDocument: Buffer.alloc(2_000) }, { 3: 0 })
  t.throws(() => openCompound(bytes).stream('WordDocument'), Unreadable)
  const folders = compoundOf({ 'a/b': Buffer.from('text'), c: Buffer.from('more') })
  t.same([...openCompound(folders).paths].sort(), ['a/b', 'c'])
  t.equal(openCompound(folders).stream('a/b')?.toString(), 'text')
  t.equal(openCompound(folders).stream('b'), null)
})

t.test('small sectors that lead in a circle end in a refusal', async (t) => {
  const { bytes } = await stored('msg/harvest.msg')
  const subject = '__substg1.0_0037001F'
  t.equal(openCompound(bytes).stream(subject)?.toString('utf16le'), 'Grüße von der Ernte')
  const file = Buffer.from(bytes)
  const entry = file.indexOf(Buffer.from(subject, 'utf16le'))
  const [smallest, size] = [0xffff_ffff, 64 * 100_000]
  file.writeUInt32LE(smallest, 56)
  file.writeUInt32LE(size, entry + 120)
  const start = file.readUInt32LE(entry + 116)
  const smallTable = 512 * (file.readUInt32LE(60) + 1)
  file.writeUInt32LE(start, smallTable + 4 * start)
  t.throws(() => openCompound(file).stream(subject), Unreadable)
})

const part = (bytes: Uint8Array | null, name: string) => (bytes === null ? [] : [[name, bytes] as const])
