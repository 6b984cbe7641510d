import { once } from 'node:events'
import { createGateway } from 'sealgate'
import { connect } from 'sealgate/client'
import { memory } from 'sealgate/memory'

const gateway = createGateway(memory())
const server = gateway.server().listen(0, '127.0.0.1')
await once(server, 'listening')
const baseUrl = `http://127.0.0.1:${(server.address() as { port: number }).port}`
const { credential: apiKey } = await gateway.keys.create({})

// The enclave of the memory environment proves nothing, so the client refuses it without this policy.
const client = connect({ baseUrl, apiKey, policy: { allowInsecureDev: true } })
const params = { model: 'rehearsal', messages: [{ role: 'user', content: 'Who can read this?' }] }

const answer = await client.chat.completions.create(params)
console.log(answer.choices[0]!.message.content)

for await (const { choices } of await client.chat.completions.create({ ...params, stream: true })) {
  process.stdout.write(choices[0]?.delta.content ?? '')
}
console.log()

server.close()
server.closeAllConnections()
await gateway.close()
