import { once } from 'node:events'
import { createGateway } from 'sealgate'
import { connect } from 'sealgate/client'
import { memory } from 'sealgate/memory'
import { plugin, use } from 'sealgate/plugin'
import { Tool } from 'sealgate/ports/tool'
import * as v from 'valibot'

const params = v.object({ sides: v.pipe(v.number(), v.integer(), v.minValue(2), v.maxValue(100)) })

// In a file of its own under plugins/tools/, `export default plugin({ … })` is all that is needed: it is found by its name.
const rollDice = plugin({
  port: Tool,
  name: 'rollDice',
  create: (): Tool<typeof params> => ({
    name: 'rollDice',
    description: 'Rolls one die with as many sides as you like.',
    kind: 'simple',
    params,
    async run({ sides }, signal) {
      signal.throwIfAborted()
      return { rolled: 1 + Math.floor(Math.random() * sides) }
    },
  }),
})

const adapters = memory()
const gateway = createGateway({ ...adapters, tools: [...adapters.tools, use(rollDice)] })
const server = gateway.server().listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as { port: number }
const { credential: apiKey } = await gateway.keys.create({})

// The tool runs inside the enclave: its parameters and its result are sealed on the way.
const client = connect({ baseUrl: `http://127.0.0.1:${port}`, apiKey, policy: { allowInsecureDev: true } })
console.log(await client.tools.call('rollDice', { sides: 6 }))

server.close()
server.closeAllConnections()
await gateway.close()
