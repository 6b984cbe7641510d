import './fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { connect, newKek } from '../plugins/sealed/client/client.ts'
import { memory } from '../adapters/memory/index.ts'
import { checkedConfig } from '../adapters/production/config/config.ts'
import { production } from '../adapters/production/index.ts'
import type { Fault } from '../plugins/sealed/client/error.ts'
import { running } from './environments.ts'

const config = { log: { level: 'silent' }, providers: { rehearsal: { use: 'rehearsal' } } }
const environments = {
  memory: async () => memory(),
  production: async (t: Test) => production(checkedConfig(config, {}), t.testdir()),
}

const free = { requestsPerSecond: null, tokensPerMinute: null }

for (const [name, adapters] of Object.entries(environments)) {
  t.test(`long sealed answers, whose bytes are printed as they leave: ${name}`, { timeout: 120_000 }, async (t) => {
    const gateway = await running(t, await adapters(t), { limits: { key: free, organization: free } })
    const policy = { allowInsecureDev: true }
    const client = connect({ baseUrl: gateway.base, apiKey: gateway.key, policy, kek: newKek() })
    const receipts: unknown[] = []
    const receipt = (checked: unknown) => void receipts.push(checked)

    const input = Array.from({ length: 300 }, (_, at) => `text ${at}`)
    const wanted = { model: 'rehearsal-embedding', input, dimensions: 512 }
    const clear = await (await gateway.call('POST', '/v1/embeddings', wanted)).json()
    t.same((await client.embeddings.create(wanted, { receipt })).data, clear.data, 'are those of the clear route')
    t.equal(receipts.length, 1, 'have a receipt of their bytes')

    const text = 'One line of é.\n'.repeat(60_000)
    const { id } = await client.files.upload({ name: 'long.txt', bytes: Buffer.from(text) })
    const read = await client.tools.call('getTextDocumentContent', { fileId: id }, { receipt })
    t.ok(JSON.stringify(read).length > 300_000, 'are the results of tools, too')
    t.equal(receipts.length, 2)
  })

  t.test(`a long sealed request, which the gateway hands on as its bytes: ${name}`, { timeout: 120_000 }, async (t) => {
    const gateway = await running(t, await adapters(t), { limits: { key: free, organization: free } })
    const policy = { allowInsecureDev: true }
    const client = connect({ baseUrl: gateway.base, apiKey: gateway.key, policy })
    const messages = [
      { role: 'system', content: 'é'.repeat(900_000) },
      { role: 'user', content: 'Hello' },
    ]

    const whole = await client.chat.completions.create({ model: 'rehearsal', messages })
    t.ok(whole.choices[0]!.message.content, 'is answered whole')
    let output = ''
    for await (const chunk of await client.chat.completions.create({ model: 'rehearsal', messages, stream: true }))
      output += chunk.choices[0]?.delta.content ?? ''
    t.equal(output, whole.choices[0]!.message.content, 'and as a stream')
    const another = await client.chat.completions.create({ model: 'rehearsal', messages })
    t.ok(another, 'on a line that serves others afterwards')

    const refused = (run: Promise<unknown>, fault: Fault, code: string | null) => t.rejects(run, { fault, code })
    await refused(client.chat.completions.create({ model: 'nobody', messages }), 'failed', 'unknown_model')
    const wrong = { model: 'rehearsal', messages: Array(20_000).fill({ role: 'nobody', content: 'x'.repeat(30) }) }
    await refused(client.chat.completions.create(wrong), 'failed', 'invalid_parameters')
    const many = { model: 'rehearsal', messages, x: Array(200_000).fill(1) }
    await refused(client.chat.completions.create(many), 'refused', null)

    const text = JSON.stringify({ cipherText: 'ab', nonce: 'cd', encryptedInference: 'ab'.repeat(500_000) })
    const outer = await gateway.call('POST', '/rvenc/chat/completions', text)
    t.equal(outer.status, 400)
    t.match(
      await outer.json(),
      { validator: { cipherText: /^Expected 1120/ } },
      'the enclave names a wrong outer field',
    )
    const torn = await gateway.call('POST', '/rvenc/chat/completions', text.slice(0, -1))
    t.equal(torn.status, 400, 'and JSON that does not end')
    const twice = await gateway.call('POST', '/rvenc/chat/completions', text.replace('{', '{"nonce":"cd",'))
    t.match(await twice.json(), { status: 400 })
  })
}
