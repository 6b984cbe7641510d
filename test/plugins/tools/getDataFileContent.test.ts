import '../../fakes/unwatched.ts'
import t from 'tap'
import { Unreadable } from '../../../core/errors.ts'
import type { OpenFile } from '../../../core/ports/tool.ts'
import data, { readData } from '../../../plugins/readers/data.ts'
import getDataFileContent from '../../../plugins/tools/getDataFileContent.ts'
import { conform } from '../../contracts/contract.ts'
import { tool } from '../../contracts/tool.ts'
import { quietClock } from '../../slowness.ts'
import { bytesOf, madeOf, opened, params, toolOf } from './tried.ts'

const made = () => toolOf(data, getDataFileContent)
const soon = () => AbortSignal.timeout(60_000)
const stored = async (path: string) => opened(await bytesOf(path), path, '')
const run = (file: OpenFile) => madeOf(made(), file)
const read = (name: string, content: string, mime = '') => run(opened(Buffer.from(content), name, mime))

t.test('contract', async (t) => {
  const good = { params, file: await stored('json/tree.json') }
  const bad = { params, file: opened(Buffer.from('{"secret": '), 'some.json', '') }
  await conform(t, tool.contract, () => ({ tool: made(), good, bad }))
})

t.test('records with plain values are a table', async (t) => {
  t.same(await run(await stored('json/flat-with-nan-and-large-integer.json')), {
    format: 'json',
    encoding: { name: 'utf-8', confidence: 1 },
    kind: 'table',
    rowCount: 3,
    describedRows: 3,
    columns: [
      { name: 'id', type: 'integer', nulls: 0, min: 2, max: '9007199254740993' },
      { name: 'name', type: 'text', nulls: 1 },
      { name: 'amount', type: 'number', nulls: 0, min: -12500, max: 59.97 },
      { name: 'paid', type: 'boolean', nulls: 0 },
      { name: 'at', type: 'date', nulls: 1 },
    ],
    truncated: false,
    rows: [
      ['9007199254740993', 'Müller & Söhne', 59.97, true, '2024-03-31T14:30:15Z'],
      [2, 'Ångström AB', 'NaN', false, '2024-04-01T08:00:00Z'],
      [3, null, -12500, true, null],
    ],
  })
})

t.test('a csv is a table whose first line names the columns', async (t) => {
  const { columns, rows, format } = await read('a.csv', 'sku;price;on\n00123;19.90;2024-02-29\n00124;7.5;\n')
  t.same(columns, [
    { name: 'sku', type: 'text', nulls: 0 },
    { name: 'price', type: 'number', nulls: 0, min: 7.5, max: 19.9 },
    { name: 'on', type: 'date', nulls: 1 },
  ])
  t.same(
    [format, rows],
    [
      'csv',
      [
        ['00123', '19.90', '2024-02-29'],
        ['00124', 7.5, null],
      ],
    ],
  )
  const { columns: unnamed } = await read('a.tsv', '1\t2\n3\t4\n')
  t.same(
    unnamed.map(({ name }: any) => name),
    ['column 1', 'column 2'],
  )
  const { rows: exported } = await run(await stored('csv/commas-windows-1252.csv'))
  t.same(exported[3].slice(0, 3), ['03/01/2024', 'Ångström AB\nzweite Zeile', '1E5'])
})

t.test('records with more in them stay records', async (t) => {
  const events = await run(await stored('jsonl/nested-records.jsonl'))
  t.match(events, { format: 'jsonl', kind: 'records', recordCount: 3, brokenLines: 0, truncated: false })
  t.same(events.records[1], { seq: 1, kind: 'buy', user: { id: 7, name: 'Zoë' }, items: ['A-1', 'B-2'] })
  t.same(events.columns[3], { name: 'items', type: 'list', nulls: 2 })
  t.match(
    events.outline,
    'list of 3\n  - object\n    seq: integer\n    kind: text\n    user: object\n      id: integer',
  )
  const log = await read('log.json', '{"a":1}\n{"a":{}}\n{"a":', 'application/json')
  t.same([log.format, log.records, log.brokenLines], ['jsonl', [{ a: 1 }, { a: {} }], 1], 'lines under another name')
})

t.test('a tree has its value and its outline', async (t) => {
  const { kind, outline, value } = await run(await stored('json/tree.json'))
  t.same(
    [kind, outline.split('\n').slice(0, 6)],
    ['tree', ['object', '  shop: text', '  version: text', '  orders: list of 2', '    - object', '      no: text']],
  )
  const { orders, ...rest } = value
  const limits = { max: '18446744073709551615', ratio: 0.25 }
  t.same(rest, { shop: 'Nordlicht', version: '1.10', limits, closed: null })
  t.same(orders[0].items[1], { sku: 'B-2', count: 1, note: 'gift' })
  t.same(orders[1], { no: '00124', customer: { name: 'Ångström AB', city: 'Malmö' }, items: [] })
})

t.test('yaml with anchors, toml with dates, xml in its own encoding', async (t) => {
  t.same((await run(await stored('yaml/shared-anchors.yaml'))).value, {
    defaults: { image: 'node:22', retries: 3 },
    jobs: {
      test: { image: 'node:22', retries: 3 },
      ship: {
        needs: ['test'],
        when: '2024-02-29',
        größe: 12.5,
        token: '12345678901234567890',
        on: 'yes',
        text: 'line one\nline two\n',
      },
    },
  })
  t.same((await run(await stored('toml/dates.toml'))).value, {
    title: 'Überblick',
    big: '9223372036854775807',
    nan: 'NaN',
    day: '2024-02-29',
    local: '2024-03-31T14:30:15.000',
    at: '2024-03-31T14:30:15.000+02:00',
    opens: '08:30:00.000',
    servers: [
      { host: 'a.example', ports: [80, 443] },
      { host: 'b.example', ports: [] },
    ],
  })
  const article = (sku: string, name: string, price: string) => ({
    '@sku': sku,
    name,
    preis: { '@waehrung': 'EUR', '#': price },
    leer: null,
  })
  t.same((await run(await stored('xml/catalog-iso-8859-1.xml'))).value, {
    katalog: {
      '@stand': '2024-03-31',
      artikel: [article('00123', 'Leuchte "Föhr" <groß>', '19.90'), article('00124', 'Seil & Haken', '7.50')],
      hinweis: { '#': ['Lieferung ', { b: 'frei' }, ' ab 50 Euro.'] },
      constructor: 'x',
    },
  })
})

const day = '2024-03-31T14:30:15'
const orders = [
  [
    1,
    'Müller & Söhne',
    19.9,
    0.5,
    true,
    '2024-02-29',
    day,
    `${day}.123456Z`,
    '08:30:00',
    ['a', 'ö'],
    { city: 'Köln', zip: 50667 },
    '3 bytes',
  ],
  [
    '9007199254740993',
    'Ångström AB',
    -0.05,
    'NaN',
    false,
    '1969-07-20',
    '1969-12-31T23:59:59.5',
    null,
    null,
    [],
    null,
    'text',
  ],
  [-5, null, '12345678901234567890.12', ...Array(9).fill(null)],
]

/** The rows of a file that pyarrow wrote without a dictionary. */
const line = (at: number) => [at, `line ${at % 7} ${'ab'.repeat(40)}`, 'x'.repeat(300)]

t.test('parquet by other programs', async (t) => {
  for (const codec of ['snappy', 'gzip', 'lz4', 'zstd']) {
    const { columns, rows, rowCount } = await run(await stored(`parquet/orders-${codec}.parquet`))
    t.same([rowCount, rows], [3, orders], codec)
    t.same(columns[0], { name: 'id', type: 'integer', nulls: 0, min: -5, max: '9007199254740993' })
  }
  const fast = await run(await stored('parquet/fastparquet-gzip.parquet'))
  t.same(fast.rows, [
    [1, 'x', 1.5],
    [2, 'y', 2.5],
    [3, 'ü', null],
  ])
  const lines = await run(await stored('parquet/lines-lz4.parquet'))
  t.equal(lines.rowCount, 3_000)
  t.same([lines.rows?.[0], lines.rows?.[77]], [line(0), line(77)], 'copies, also within themselves')
  const [broken] = [(await stored('parquet/orders-gzip.parquet')).bytes.fill(0xff, 40, 400)]
  await t.rejects(run(opened(broken, 'a.parquet', '')), Unreadable)
})

t.test('keys are only keys', async (t) => {
  const { value } = await read('a.json', '{"__proto__":{"x":1},"constructor":2,"a":1,"a":2,"b":-1e999}')
  t.equal(JSON.stringify(value), '{"__proto__":{"x":1},"constructor":2,"a":2,"b":"-1e999"}')
  const { columns, rows } = await read('a.json', '[{"__proto__":1,"toString":2},{"toString":3,"__proto__":null}]')
  t.same(
    [columns.map(({ name }: any) => name), rows],
    [
      ['__proto__', 'toString'],
      [
        [1, 2],
        [null, 3],
      ],
    ],
  )
  const xml = await read('a', '<!-- <!DOCTYPE a> --><a><__proto__ b="&#228;"/><![CDATA[<!DOCTYPE b>]]></a>')
  t.equal(JSON.stringify(xml.value), '{"a":{"#":["<!DOCTYPE b>"]}}'.replace('["', '[{"__proto__":{"@b":"ä"}},"'))
  t.equal(({} as { x?: unknown }).x, undefined)
})

t.test('xml may name its type, as property lists do', async (t) => {
  const type = '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">'
  const plist = await read(
    'a.xml',
    `<?xml version="1.0"?>\n<!-- x -->${type}\n<plist><dict><key>a</key></dict></plist>`,
  )
  t.same(plist.value, { plist: { dict: { key: 'a' } } })
  const licensed = await read('a.xml', `<?xml version="1.0"?><!--${'x'.repeat(24_000_000)}-->${type}<a>1</a>`)
  t.same(licensed.value, { a: '1' }, 'a long comment before it')
  await t.rejects(read('a.xml', '<!-- a --><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), Unreadable)
})

t.test('a csv may say its delimiter first, and give two columns one name', async (t) => {
  const { columns, rows } = await read('a.csv', 'sep=;\r\nsum;day;day\r\n1,5;Mo;Di\r\n')
  t.same(
    columns.map(({ name }: any) => name),
    ['sum', 'day', 'day'],
  )
  t.same(rows, [['1,5', 'Mo', 'Di']])
})

t.test('a value over the limit is cut and marked at its place', async (t) => {
  const rows = Array.from({ length: 60_000 }, (_, at) => ({ at, word: 'x'.repeat(20) }))
  const table = await read('a.json', JSON.stringify(rows))
  t.same([table.rowCount, table.rows.length, table.columns[0].max, table.truncated], [60_000, 10_000, 59_999, true])
  const tree = await read(
    'a.json',
    JSON.stringify({ name: 'first', rows, text: 'y'.repeat(500_000), tail: { last: 1 } }),
  )
  t.same([tree.value.name, tree.value.tail, tree.truncated], ['first', { last: 1 }, true])
  t.match([tree.value.rows.at(-1), tree.value.text], [/^… \d+ more$/, /^y+… \d+ more characters$/])
  t.ok(JSON.stringify(tree.value).length < 800_000)
  const indexed = await readData(opened(Buffer.from('1,2\n'.repeat(150_000)), 'a.csv', ''), soon())
  t.equal(indexed.kind === 'table' && indexed.rows.flat().length, 200_000, 'as much as is indexed')
  const deep = await read('a.json', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)
  t.equal(deep.truncated, true)
  t.match(JSON.stringify(deep.value), /^(\{"a":){50}"… 1 more"\}{50}$/)
  const circle = await read('a.yaml', 'a: &a [*a, *a, 1]')
  t.equal(circle.truncated, true)
})

/** One row, a list of sixty million zeros, as pyarrow writes it. */
const zeros = [
  'UEFSMRUEFQgVMEwVAhUAEgAAH4sIAAAAAAACA2NgYGAAABzfRCEEAAAAFQAVNBVWLBWAnJw5FRAVBhUGHAAAAB+LCAAAAAAAAgNjZ2BgYP73Yf',
  'YcS0ZWILNhzhxLZkYQyQAAL2z3BRoAAAAVBBlMNQAYBnNjaGVtYRUCADUCGAFhFQIVBkw8AAAANQQYBGxpc3QVAgAVAiUCGAdlbGVtZW50JR5M',
  'rBMIEQAAABYCGRwZHCYAHBUCGTUABhAZOAFhBGxpc3QHZWxlbWVudBUEFoCcnDkWhAEWzgEmVCYIKSwVBBUAFQIAFQAVEBUCADwpJp454uKbOR',
  'lGAAAAgJycOQAAABaEARYCJggWzgEAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI1LjAuMRkcHAAAAMsAAABQQVIx',
].join('')

t.test('a wrong file or a bomb is refused soon and with little memory', async (t) => {
  const letters = [...'bcdefghi']
  const before = (at: number) => 'abcdefghi'[at]
  const yaml = letters.map(
    (letter, at) =>
      `${letter}: &${letter} [${Array(9)
        .fill(`*${before(at)}`)
        .join()}]`,
  )
  const xml = letters.map((letter, at) => `<!ENTITY ${letter} "${`&${before(at)};`.repeat(10)}">`)
  const bombs = [
    ['laughs.xml', `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "ha">${xml.join('')}]><a>&i;</a>`],
    ['late.xml', '<a/><!DOCTYPE a [<!ENTITY b "c">]>'],
    ['deep.xml', `${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}`],
    ['aliases.yaml', `a: &a [lol]\n${yaml.join('\n')}`],
    ['deep.yaml', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['deep.json', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['deep.toml', `a = ${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['half.json', '{"a": [1, 2'],
    ['half.xml', '<a><b></a>'],
    ['wrong.yaml', 'a: [1\nb: }'],
    ['twice.toml', 'a = 1\na = 2'],
    ['no.jsonl', 'no\nlines'],
    ['no.parquet', 'PAR1 and nothing PAR1'],
    ['binary.csv', 'a,b\n\0\x01'],
    ['empty.json', ' '],
    ['unknown', 'words'],
  ] as const
  for (const [name, content] of [...bombs, ['zeros.parquet', Buffer.from(zeros, 'base64')] as const]) {
    const { rss } = process.memoryUsage()
    const clock = quietClock()
    let most = rss
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5)
    await t.rejects(run(opened(Buffer.from(content), name, '')), Unreadable, name).finally(() => clearInterval(watch))
    const ms = clock()
    t.ok(ms < 2000, `${name}: ${ms.toFixed(0)} ms`)
    t.ok(most - rss < 150_000_000, `${name}: ${((most - rss) / 1_000_000).toFixed(0)} MB more`)
  }
})
