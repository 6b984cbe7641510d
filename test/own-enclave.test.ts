import t, { type Test } from 'tap'
import * as v from 'valibot'
import { memory } from '../adapters/memory/index.ts'
import { createGateway } from '../core/gateway.ts'
import { plugin, use } from '../core/plugin.ts'
import { Enclave } from '../core/ports/enclave.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import { Tool } from '../core/ports/tool.ts'
import rehearsal from '../plugins/providers/rehearsal.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import { servesGateway } from './fakes/listening.ts'

const params = v.object({ text: v.string() })

const shouting = (name: string) =>
  plugin({
    port: Tool,
    name,
    create: (): Tool<typeof params> => ({
      name,
      description: 'Says it louder.',
      kind: 'simple',
      params,
      run: async ({ text }) => ({ loud: text.toUpperCase() }),
    }),
  })

const stood = async (t: Test, adapters: ReturnType<typeof memory>) => {
  const gateway = createGateway(adapters)
  const baseUrl = await servesGateway(t, gateway)
  const { credential: apiKey } = await gateway.keys.create({})
  return { gateway, client: connect({ baseUrl, apiKey, policy: { allowInsecureDev: true } }) }
}

t.test('a backend and a tool of the environment work sealed', async (t) => {
  const all = memory()
  const upstreams = [use(rehearsal, { chat: ['house'] }, 'house')]
  const { client } = await stood(t, { ...all, upstreams, tools: [...all.tools, use(shouting('shout'))] })
  const messages = [{ role: 'user', content: 'canary' }]
  const { choices } = await client.chat.completions.create({ model: 'house', messages })
  t.match(JSON.stringify(choices), /The last message was: canary/)
  t.match(await client.tools.call('shout', { text: 'canary' }), { loud: 'CANARY' })
})

t.test('a reload gives the enclave another tool, and one that changes nothing keeps its keys', async (t) => {
  const all = memory()
  const { gateway, client } = await stood(t, all)
  const enclave = () => gateway.supply({ enclave: Enclave }).enclave
  const before = enclave()
  await gateway.renew({ settings: {} })
  t.equal(enclave(), before)
  await gateway.renew({ settings: {}, tools: [...all.tools, use(shouting('shout'))] })
  t.match(await client.tools.call('shout', { text: 'hi' }), { loud: 'HI' })
})

t.test('a tool that needs the rows of the gateway is left out of the enclave, and nothing else is', async (t) => {
  const all = memory()
  const rowed = plugin({ ...shouting('rowed'), needs: { rows: MetadataStore } })
  const { client } = await stood(t, { ...all, tools: [...all.tools, use(rowed as never), use(shouting('shout'))] })
  await t.rejects(client.tools.call('rowed', { text: 'hi' }))
  t.match(await client.tools.call('shout', { text: 'hi' }), { loud: 'HI' })
})
