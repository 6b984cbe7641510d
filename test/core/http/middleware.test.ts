import t, { type Test } from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { Forbidden } from '../../../core/errors.ts'
import { createGateway } from '../../../core/gateway.ts'
import type { Middleware } from '../../../core/http/middleware.ts'
import { servesGateway } from '../../fakes/listening.ts'

const serving = async (t: Test, ...middleware: Middleware[]) => {
  const gateway = createGateway({ ...memory(), middleware })
  const base = await servesGateway(t, gateway)
  return (path: string, init: RequestInit = {}) => fetch(base + path, init)
}

t.test('runs around every route, in its order', async (t) => {
  const seen: string[] = []
  const noting =
    (name: string): Middleware =>
    async (ctx, next) => {
      seen.push(`${name} ${ctx.path}`)
      ctx.set(`x-${name}`, 'yes')
      await next()
      seen.push(`${name} ${ctx.res.statusCode}`)
    }
  const ask = await serving(t, noting('outer'), noting('inner'))
  const live = await ask('/health/live')
  t.same([live.status, live.headers.get('x-outer'), live.headers.get('x-inner')], [200, 'yes', 'yes'])
  await live.text()
  t.same(seen.splice(0), ['outer /health/live', 'inner /health/live', 'inner 200', 'outer 200'])
  const lost = await ask('/nowhere')
  t.equal(lost.status, 404)
  t.match(await lost.json(), { status: 404, data: null })
  t.match(seen, ['outer /nowhere', 'inner /nowhere'], 'and around paths without a route')
})

t.test('may answer by itself, under the id of the request', async (t) => {
  const ask = await serving(t, (ctx, next) => {
    if (ctx.path === '/own') ctx.body = { own: true }
    else if (ctx.path === '/empty') ctx.status = 204
    else return next()
  })
  const own = await ask('/own')
  t.same([own.status, await own.json()], [200, { own: true }])
  t.match(own.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
  t.equal((await ask('/empty')).status, 204)
  t.equal((await ask('/health/live')).status, 200)
})

t.test('what it throws is answered in the envelope, without its words', async (t) => {
  const ask = await serving(t, (ctx) => {
    if (ctx.path === '/forbidden') throw new Forbidden('This host is not served')
    throw new Error('secret words')
  })
  const forbidden = await ask('/forbidden')
  t.equal(forbidden.status, 403)
  t.match(await forbidden.json(), { status: 403, error: 'This host is not served' })
  const broken = await ask('/health/live')
  t.equal(broken.status, 503)
  t.notMatch(await broken.text(), 'secret')
})

t.test('a refusal of the HTTP library keeps its status, and the status of a vendor’s client is a fault', async (t) => {
  const ask = await serving(t, (ctx) => {
    const status = Number(ctx.path.slice(1))
    if (status > 0) ctx.throw(status, 'secret words')
    throw Object.assign(new Error('401 No such key'), { status: 401, headers: {}, error: {} })
  })
  for (const status of [400, 401, 403, 404, 429]) {
    const refused = await ask(`/${status}`)
    t.equal(refused.status, status)
    t.notMatch(await refused.text(), 'secret')
  }
  t.equal((await ask('/418')).status, 400, 'other refusals are the caller’s, too')
  t.equal((await ask('/own')).status, 503)
})
