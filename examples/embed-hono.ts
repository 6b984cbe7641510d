import { Hono } from 'hono'
import { createGateway } from 'sealgate'
import { memory } from 'sealgate/memory'

const gateway = createGateway(memory(), { prefix: '/ai' })
const app = new Hono()
app.all('/ai/*', ({ req }) => gateway.fetch(req.raw))
app.get('/', ({ text }) => text('my own service'))

console.log(
  (await app.request('http://localhost/ai/health')).status,
  await (await app.request('http://localhost/')).text(),
)
await gateway.close()
