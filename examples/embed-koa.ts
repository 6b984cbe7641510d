import { once } from 'node:events'
import Koa from 'koa'
import { createGateway } from 'sealgate'
import { memory } from 'sealgate/memory'

const gateway = createGateway(memory(), { prefix: '/ai' })
const koa = new Koa()
koa.use((ctx, next) => {
  if (!ctx.path.startsWith('/ai/')) return next()
  ctx.respond = false
  gateway.listener(ctx.req, ctx.res)
})
koa.use((ctx) => {
  ctx.body = 'my own service'
})

const server = koa.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as { port: number }
console.log(
  (await fetch(`http://127.0.0.1:${port}/ai/health/live`)).status,
  await (await fetch(`http://127.0.0.1:${port}/`)).text(),
)

server.close()
server.closeAllConnections()
await gateway.close()
