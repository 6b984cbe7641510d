import t from 'tap'
import document from '../../../plugins/readers/document.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { file, made, soon, stored } from './tried.ts'

t.test('contract', async (t) => {
  const good = { file: await stored('docx/harvest.docx'), says: 'sagt der Verband' }
  const broken = file('secret.docx', 'PK\x03\x04 and nothing more')
  const foreign = await stored('image/order.png')
  await conform(t, reader.contract, () => ({ reader: made(document), good, broken, foreign }))
})

t.test('a file without another reader is read as text', async (t) => {
  const it = made(document)
  t.equal(it.lastResort, true)
  t.ok(it.fits(file('plan.unheard-of', 'words')))
  const { sections } = await it.read(file('plan.unheard-of', 'words'), soon())
  t.same(sections, [{ heading: null, text: 'words', page: null }])
})
