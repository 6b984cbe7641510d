import { once } from 'node:events'
import express from 'express'
import { createGateway } from 'sealgate'
import { memory } from 'sealgate/memory'

// Express takes the mount path off the URL, and links of pages need it. Mount the gateway before any body parser.
const gateway = createGateway(memory(), { prefix: '/ai' })
const app = express()
app.use('/ai', gateway.listener)
app.get('/', (_, response) => void response.send('my own service'))

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as { port: number }
console.log(
  (await fetch(`http://127.0.0.1:${port}/ai/health/live`)).status,
  await (await fetch(`http://127.0.0.1:${port}/`)).text(),
)

server.close()
server.closeAllConnections()
await gateway.close()
