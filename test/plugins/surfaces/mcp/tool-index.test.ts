import { readFile } from 'node:fs/promises'
import t from 'tap'
import { toolsIn } from '../../../../plugins/surfaces/mcp/upstream/listed-tools.ts'
import { toolIndex } from '../../../../plugins/surfaces/mcp/upstream/tool-index.ts'

/** Tools of a server, each with what a model may ask for. */
interface Offered {
  readonly server: string
  readonly name: string
  readonly description: string
  readonly params: string
  readonly query: string
}

const offered: readonly Offered[] = JSON.parse(await readFile('test/plugins/surfaces/mcp/offered-tools.json', 'utf8'))
const rawOf = ({ name, description, params }: Offered) => ({
  name,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(params.split(' ').map((param) => [param, { type: 'string' }])),
  },
})
const servers = [...new Set(offered.map((row) => row.server))]
const tools = servers.flatMap((server) =>
  toolsIn(server, offered.filter((row) => row.server === server).map(rawOf), undefined),
)
const index = toolIndex()
for (const server of servers)
  await index.put(
    server,
    tools.filter((tool) => tool.server === server),
  )

t.test('the tool that is meant is among the first of fifty', async (t) => {
  const asked = offered.map(({ server, name, query }) => ({ query, name: `${server}__${name}` }))
  const places = await Promise.all(
    asked.map(async ({ query, name }) =>
      (await index.find(tools, query, 5)).findIndex(({ described }) => described.name === name),
    ),
  )
  const within = (most: number) => places.filter((place) => place >= 0 && place < most).length
  t.equal(asked.length, 50)
  t.ok(within(1) >= 45, `${within(1)} of 50 stand first`)
  t.ok(within(5) >= 49, `${within(5)} of 50 are among five`)
})

t.test('a server that changes changes what is found', async (t) => {
  const own = tools.filter(({ server }) => server === 'world')
  const changed = toolIndex()
  await changed.put('world', own)
  await changed.put('world', own.slice(1))
  const names = async (query: string) => (await changed.find(own, query, 5)).map((tool) => tool.own)
  t.notOk((await names('book a hotel room')).includes('book_hotel'))
  t.equal((await names('weather for a city'))[0], 'forecast')
  const others = own.filter((tool) => tool.own !== 'forecast')
  t.notOk(
    (await changed.find(others, 'weather for a city', 5)).some((tool) => tool.own === 'forecast'),
    'of these alone',
  )
})

t.test('many tools are indexed in turns of the loop', async (t) => {
  const raw = Array.from({ length: 500 }, (_, at) => ({
    name: `tool_${at}`,
    description: `Number ${at} ${'of many long words '.repeat(60)}`,
    inputSchema: { type: 'object' },
  }))
  const large = toolIndex()
  const many = toolsIn('crowd', raw, undefined)
  let turns = 0
  const tick = setInterval(() => turns++, 0)
  await large.put('crowd', many)
  clearInterval(tick)
  t.ok(turns >= 10, `others had ${turns} turns`)
  const began = performance.now()
  t.equal((await large.find(many, 'number 77', 5))[0]?.own, 'tool_77')
  t.ok(performance.now() - began < 500)
})
