import '../../../fakes/unwatched.ts'
import t from 'tap'
import { Unreadable } from '../../../../core/errors.ts'
import type { Contents } from '../../../../core/ports/file-content.ts'
import { openCompound } from '../../../../plugins/readers/shared/compound.ts'
import document from '../../../../plugins/readers/document.ts'
import { compoundOf } from '../../../fakes/compound.ts'
import { piecesOf } from '../../../../plugins/readers/document/doc-pieces.ts'
import { file, made, soon, stored } from '../tried.ts'

const read = async (bytes: Uint8Array) =>
  (await made(document).read(file('harvest.doc', bytes), soon())).content as Contents['document']

t.test('a Word document of 2003 is read with its headings, tables, links and comments', async (t) => {
  const content = await read((await stored('doc/harvest.doc')).bytes)
  t.match(content, {
    format: 'doc',
    links: [{ url: 'https://example.com/jahr', text: 'der Verband' }],
    comments: [{ author: 'E', text: 'KOMMENTAR' }],
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
  const streams = Object.fromEntries(
    ['WordDocument', '1Table', '0Table'].flatMap((text) => part(word.stream(text), text)),
  )
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

t.test('comments of a Word document have authors, and hidden text is told apart', async (t) => {
  const content = await read((await stored('beside/text.doc')).bytes)
  t.same(content.comments, [
    { author: 'Ada Lind', text: 'Check the number. Twice, please.', at: null },
    { author: 'Jürgen Müller', text: 'Größe fehlt', at: null },
    { author: 'Ada Lind', text: 'Check the number.', at: null },
  ])
  t.same(content.hidden, ['hidden by itself', 'hidden by a style', 'A whole line', 'and another'])
  t.match(
    content.sections[0]?.text,
    /\.\nShown {2}and shown\.\nShown {2}and by one that follows it, but this is seen\.$/,
  )
})

/** A stored document after a change of its two streams. */
const changed = async (path: string, change: (main: Buffer, table: Buffer) => void) => {
  const word = openCompound((await stored(path)).bytes)
  const [main, table] = [Buffer.from(word.stream('WordDocument')!), Buffer.from(word.stream('1Table')!)]
  change(main, table)
  return read(compoundOf({ WordDocument: main, '1Table': table }))
}

/** In the header: the places of the lists of styles, of references to comments, of their texts, and of authors. */
const lists = { styles: 0xa2, references: 0xba, texts: 0xc2, authors: 0x1ba }

t.test('a style of Word hides text by the style before it', async (t) => {
  const nameOf = (table: Buffer, style: string) => table.indexOf(Buffer.from(style, 'utf16le'))
  const follow = (table: Buffer, style: string, before: number) =>
    table.writeUInt16LE(16 * before + 2, nameOf(table, style) - 10)
  const hide = (table: Buffer, style: string, value: number) => {
    table[table.indexOf(Buffer.from('3c0801', 'hex'), nameOf(table, style)) + 2] = value
  }
  const followed = await changed('beside/text.doc', (_, table) => follow(table, 'UnseenToo', 15))
  t.ok(followed.hidden?.includes('by one that follows it'))
  const opposite = await changed('beside/text.doc', (main) => {
    main[main.indexOf(Buffer.from('3c0801', 'hex')) + 2] = 0x81
  })
  t.equal(opposite.hidden?.[0], 'hidden by', 'words are shown that undo the style of their paragraph')
  const circle = await changed('beside/text.doc', (_, table) => {
    follow(table, 'UnseenToo', 15)
    follow(table, 'Unseen', 16)
    hide(table, 'Unseen', 0x80)
  })
  t.same(circle.hidden, ['hidden by itself', 'A whole line', 'and another'], 'a circle hides nothing')
})

t.test('broken lists of comments, authors and styles cost no more than what they name', async (t) => {
  const after = (change: (main: Buffer, table: Buffer) => void) => changed('beside/text.doc', change)
  const without = (list: number) => after((main) => main.writeUInt32LE(0, list + 4))
  const lines = ['Check the number.', 'Twice, please.', 'Größe fehlt'].map((text) => ({ author: null, text, at: null }))
  t.same((await without(lists.texts)).comments, lines, 'each line is a comment')
  t.match((await without(lists.references)).comments, [{ author: null, text: /Twice/ }, { author: null }, {}])
  t.match((await without(lists.authors)).comments, [{ author: null, text: /Twice/ }, { author: null }, {}])
  t.notMatch((await without(lists.styles)).hidden, ['hidden by a style'])
  const ends = (end: number, value: number) =>
    after((main, table) => table.writeUInt32LE(value, main.readUInt32LE(lists.texts) + 4 * end))
  t.same((await ends(3, 0xffffff00)).comments, lines, 'a text behind the end')
  t.same((await ends(2, 1)).comments, lines, 'a text that ends before it begins')
  const unknown = (main: Buffer, table: Buffer) => table.writeUInt16LE(0xffff, main.readUInt32LE(lists.references) + 36)
  t.match((await after(unknown)).comments, [{ author: null, text: /Twice/ }, { author: 'Jürgen Müller' }, {}])
  const long = (main: Buffer, table: Buffer) => table.writeUInt16LE(0xffff, main.readUInt32LE(lists.authors) + 36)
  t.match((await after(long)).comments, [{ author: 'Ada Lind' }, { author: null }, { author: 'Ada Lind' }])
  for (const list of Object.values(lists))
    for (const [at, value] of [0, 4].flatMap((at) => [1, 0xffffffff].map((value) => [at, value] as const)))
      await t.resolves(
        after((main) => main.writeUInt32LE(value, list + at)),
        `${list}, ${value}`,
      )
})

/** The stored document after one of its spans of characters has another end. */
const spanEnds = (change: (place: (at: number) => number, end: (at: number, place: number) => void) => void) =>
  changed('beside/text.doc', (main, table) => {
    const page = 512 * table.readUInt32LE(main.readUInt32LE(0xfa) + 8)
    change(
      (at) => main.readUInt32LE(page + 4 * at),
      (at, place) => main.writeUInt32LE(place, page + 4 * at),
    )
  })

t.test('hidden lines stay apart, and spans that overlap hide each character once', async (t) => {
  const { hidden } = await spanEnds((place, end) => end(17, place(18)))
  t.match(hidden, ['hidden by itself', 'hidden by a style', 'A whole line', 'and another'], 'with the mark of the line')
  const twice = await spanEnds((place, end) => end(9, place(11)))
  t.equal(twice.hidden?.join().match(/hidden by a style/g)?.length, 1)
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

t.test('narrow characters of a Word document are those of Windows', (t) => {
  const text = Buffer.from('\x93It\x92s \x80 5\x94 \x96 \xfcber', 'latin1')
  const head = Buffer.alloc(0x168)
  head.writeUInt16LE(0x65, 2)
  head.writeUInt32LE(head.length, 0x18)
  head.writeUInt32LE(head.length + text.length, 0x1c)
  t.match(piecesOf(Buffer.concat([head, text]), null), [{ text: '“It’s € 5” – über' }])
  t.end()
})
