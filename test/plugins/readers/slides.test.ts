import t from 'tap'
import type { Contents } from '../../../core/ports/file-content.ts'
import slides from '../../../plugins/readers/slides.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { file, made, soon, stored } from './tried.ts'

t.test('contract', async (t) => {
  const good = { file: await stored('pptx/orchard.pptx'), says: 'Boskoop' }
  const broken = file('secret.pptx', 'PK\x03\x04 and nothing more')
  const foreign = await stored('image/order.png')
  await conform(t, reader.contract, () => ({ reader: made(slides), good, broken, foreign }))
})

t.test('a section has the title of its slide, its number and its notes', async (t) => {
  const { content, sections } = await made(slides).read(await stored('pptx/orchard.pptx'), soon())
  const all = (content as Contents['slides']).slides
  t.same(
    sections.map(({ heading, page }) => [heading, page]),
    all.map(({ title, number }) => [title, number]),
  )
  const noted = all.findIndex(({ notes }) => notes !== null)
  t.ok(noted >= 0 && sections[noted]!.text.endsWith(`\n\n${all[noted]!.notes}`))
})
