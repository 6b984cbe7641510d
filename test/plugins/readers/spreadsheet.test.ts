import t from 'tap'
import { openCompound } from '../../../plugins/readers/shared/compound.ts'
import spreadsheet from '../../../plugins/readers/spreadsheet.ts'
import { safePart, safeStream } from '../../../plugins/readers/spreadsheet/sheets-guard.ts'
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

t.test('an xls is read without the properties beside it, and refused for a list without its length', async (t) => {
  const whole = await stored('xls/rich.xls')
  const read = async (bytes: Uint8Array) => (await made(spreadsheet).read(file('a.xls', bytes), soon())).content
  const content = await read(whole.bytes)
  const container = openCompound(whole.bytes)
  const placeOf = (path: string) => Buffer.from(whole.bytes).indexOf(container.stream(path)!.subarray(0, 64))

  const endless = Buffer.from(whole.bytes)
  const summary = placeOf('\x05SummaryInformation')
  const section = endless.readUInt32LE(summary + 44)
  endless.writeUInt32LE(0xffff_ffff, summary + section + 4)
  t.same(await read(endless), content)

  const listed = Buffer.from(whole.bytes)
  const [emptyHeaderAndFooter, externalSheets] = [Buffer.from('1400000015000000', 'hex'), 0x17]
  listed.writeUInt16LE(externalSheets, listed.indexOf(emptyHeaderAndFooter))
  await t.rejects(read(listed), { name: 'Unreadable' })
  t.throws(() => safeStream(listed), { name: 'Unreadable' }, 'before the library meets it')
})

t.test('an ods whose paragraphs or spaces are without end is refused before the library meets it', async (t) => {
  const part = (text: string) =>
    safePart('content.xml', Buffer.from(`<office:spreadsheet>${text}</office:spreadsheet>`))
  t.ok(part('<text:p>a<text:s text:c="3"/>b</text:p><text:p/>'.repeat(1_000)))
  t.throws(() => part(`${'<text:p>'.repeat(1_000)}${'</text:p>'.repeat(1_000)}`), { name: 'Unreadable' })
  t.throws(() => part(`<text:p>${'<text:p/></text:p>'.repeat(1_000)}`), { name: 'Unreadable' })
  t.throws(() => part('<text:p><text:s text:c="400000000"/></text:p>'), { name: 'Unreadable' })
})
