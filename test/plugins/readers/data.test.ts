import t from 'tap'
import data from '../../../plugins/readers/data.ts'
import { conform } from '../../contracts/contract.ts'
import { reader } from '../../contracts/reader.ts'
import { file, made, soon, stored } from './tried.ts'

t.test('contract', async (t) => {
  const good = { file: await stored('parquet/orders-snappy.parquet'), says: 'Müller & Söhne' }
  const broken = file('secret.parquet', 'PAR1 and nothing more')
  const foreign = await stored('image/order.png')
  await conform(t, reader.contract, () => ({ reader: made(data), good, broken, foreign }))
})

t.test('gives data of any shape as text that can be searched', async (t) => {
  const read = async (name: string, text: string) => (await made(data).read(file(name, text), soon())).sections[0]!.text
  t.equal(
    await read('a.json', '[{"name":"apple","weight":3},{"name":"pear","weight":null}]'),
    'name | weight\napple | 3\npear | ',
  )
  t.equal(await read('a.json', '{"fruit":{"name":"apple"}}'), '{"fruit":{"name":"apple"}}')
})

t.test('a table whose lines end in several ways keeps its rows', async (t) => {
  const { sections } = await made(data).read(file('a.csv', 'name,weight\r\napple,3\npear,4\n'), soon())
  t.equal(sections[0]!.text, 'name | weight\napple | 3\npear | 4')
})

t.test('sets, ordered maps and times of a yaml stand as they are written', async (t) => {
  const read = async (text: string) => (await made(data).read(file('a.yaml', text), soon())).sections[0]!.text
  t.equal(await read('tags: !!set\n  red: null\n  blue: null\n'), '{"tags":{"red":null,"blue":null}}')
  t.equal(await read('steps: !!omap\n- one: 1\n- two: 2\n'), '{"steps":[{"one":1},{"two":2}]}')
  t.equal(await read('%YAML 1.1\n---\nset: !!set {a}\nday: 2030-01-31\n'), '{"set":{"a":null},"day":"2030-01-31"}')
  t.equal(await read('code: !!binary aGVsbG8=\nat: !!timestamp 2030-01-31\n'), '{"code":"5 bytes","at":"2030-01-31"}')
})
