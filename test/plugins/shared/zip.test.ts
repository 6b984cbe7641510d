import '../../fakes/unwatched.ts'
import t from 'tap'
import document from '../../../plugins/readers/document.ts'
import slides from '../../../plugins/readers/slides.ts'
import spreadsheet from '../../../plugins/readers/spreadsheet.ts'
import { unzip } from '../../../plugins/shared/zip.ts'
import { zipOf } from '../../fakes/zip.ts'
import { made, soon, stored } from '../readers/tried.ts'

t.test('an archive with bytes after its end is readable', async (t) => {
  const says = async (reader: Parameters<typeof made>[0], path: string) =>
    (await made(reader).read(await stored(path), soon())).sections.map(({ text }) => text).join('\n')
  t.match(await says(document, 'tail/one-byte-behind.docx'), 'The orchard opens in May.')
  t.match(await says(spreadsheet, 'tail/zeros-behind.xlsx'), 'The orchard opens in May.')
  t.equal(await says(slides, 'tail/line-break-behind.pptx'), await says(slides, 'pptx/orchard.pptx'))
})

t.test('a comment that looks like the end of an archive is none', async (t) => {
  const sound = Buffer.from(zipOf([{ name: 'note.txt', content: 'noon' }]))
  const comment = Buffer.concat([Buffer.of(0x50, 0x4b, 5, 6), Buffer.alloc(30)])
  sound.writeUInt16LE(comment.length, sound.length - 2)
  const archive = Buffer.concat([sound, comment, Buffer.from('\n')])
  // The library itself refuses such a comment.
  await t.rejects(unzip(archive, () => true))
  const tail = Buffer.concat([zipOf([{ name: 'note.txt', content: 'noon' }]), comment])
  t.equal(Buffer.from((await unzip(tail, () => true)).get('note.txt')!).toString(), 'noon')
})
