import fastify, { type FastifyPluginCallback } from 'fastify'
import { createGateway } from 'sealgate'
import { memory } from 'sealgate/memory'

const gateway = createGateway(memory(), { prefix: '/ai' })

// The gateway reads bodies itself: within this plugin Fastify leaves them alone.
const ai: FastifyPluginCallback = (app, _, done) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, next) => next(null))
  app.all('/*', (request, reply) => {
    void reply.hijack()
    gateway.listener(request.raw, reply.raw)
  })
  done()
}

const app = fastify()
await app.register(ai, { prefix: '/ai' })
app.get('/', async () => 'my own service')

const base = await app.listen({ port: 0, host: '127.0.0.1' })
console.log((await fetch(`${base}/ai/health`)).status, await (await fetch(base)).text())
await app.close()
await gateway.close()
