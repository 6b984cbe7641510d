import t from 'tap'
import spreadsheet from '../../../plugins/readers/spreadsheet.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { file, made, soon, stored } from './tried.ts'

t.test('contract', async (t) => {
  const good = { file: await stored('xlsx/orders-two-sheets.xlsx'), says: 'Müller & Söhne' }
  const broken = file('secret.xlsx', 'PK\x03\x04 and nothing more')
  const foreign = await stored('image/order.png')
  await conform(t, reader.contract, () => ({ reader: made(spreadsheet), good, broken, foreign }))
})

t.test('a section is a sheet, a line a row', async (t) => {
  const csv = file('list.csv', 'name,weight\napple,3\npear,\n')
  const { sections } = await made(spreadsheet).read(csv, soon())
  t.match(sections, [{ text: 'name | weight\napple | 3\npear', page: null }])
})
