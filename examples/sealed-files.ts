import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGateway } from 'sealgate'
import { connect, newKek, newRagDek } from 'sealgate/client'
import { memory } from 'sealgate/memory'

const gateway = createGateway(memory())
const server = gateway.server().listen(0, '127.0.0.1')
await once(server, 'listening')
const baseUrl = `http://127.0.0.1:${(server.address() as { port: number }).port}`
const { credential: apiKey } = await gateway.keys.create({})

// Both keys stay with the client. A client that loses the first key loses every file under that key.
const kek = newKek()
const wrappedRagDek = newRagDek(kek)
const client = connect({ baseUrl, apiKey, kek, wrappedRagDek, policy: { allowInsecureDev: true } })

const text = '# Lighthouse\n\nThe keeper of Skerry Point mended the brass lamp in March.'
const { id } = await client.files.upload({ name: 'log.md', mime: 'text/markdown', bytes: Buffer.from(text) })
console.log((await client.files.list()).files.map(({ name, file_size }) => `${name}: ${file_size} sealed bytes`))

await client.files.index([id])
while ((await client.files.list({ search: id })).files[0]!.rag_status !== 'completed') await sleep(20)
console.log(await client.tools.call('searchRag', { query: 'Who mended the lamp?' }))
console.log(await client.tools.call('getTextDocumentContent', { fileId: id }))

server.close()
server.closeAllConnections()
await gateway.close()
