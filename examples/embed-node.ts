import { once } from 'node:events'
import { createServer } from 'node:http'
import { createGateway } from 'sealgate'
import { memory } from 'sealgate/memory'

// The gateway under a path of your own service; the rest of the server stays yours.
const gateway = createGateway(memory(), { prefix: '/ai' })
const server = createServer((request, response) => {
  if (request.url?.startsWith('/ai/')) return gateway.listener(request, response)
  response.end('my own service')
})

await once(server.listen(0, '127.0.0.1'), 'listening')
const { port } = server.address() as { port: number }
const answer = await fetch(`http://127.0.0.1:${port}/ai/tools`)
console.log(
  answer.status,
  ((await answer.json()) as { data: { name: string }[] }).data.map(({ name }) => name),
)

server.close()
server.closeAllConnections()
await gateway.close()
