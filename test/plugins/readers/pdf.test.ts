import t from 'tap'
import pdf from '../../../plugins/readers/pdf.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { file, made, soon, stored } from './tried.ts'

t.test('contract', async (t) => {
  const good = { file: await stored('pdf/two-pages-with-headings-and-umlauts.pdf'), says: '4,218 containers' }
  const broken = file('secret.pdf', '%PDF-1.7 and nothing more')
  const foreign = await stored('image/order.png')
  await conform(t, reader.contract, () => ({ reader: made(pdf), good, broken, foreign }))
})

t.test('a section is a page', async (t) => {
  const { sections } = await made(pdf).read(await stored('pdf/two-pages-with-headings-and-umlauts.pdf'), soon())
  t.match(sections, [
    { page: 1, text: /^Harbour report/ },
    { page: 2, text: /^Outlook/ },
  ])
})
