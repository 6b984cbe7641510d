import './fakes/unwatched.ts'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { clock, system } from '../adapters/memory/platform.ts'
import { createGateway } from '../core/gateway.ts'
import { use } from '../core/plugin.ts'
import openai from '../plugins/providers/openai.ts'
import { recorded } from './fakes/recorded.ts'
import { listening } from './fakes/listening.ts'
import { talking } from './fakes/talking.ts'
import { running } from './environments.ts'
import { uploadOf } from './fakes/uploads.ts'
import { until } from './until.ts'

const mounted = async (t: Parameters<typeof running>[0], ...args: Parameters<typeof createGateway>) => {
  const gateway = createGateway(...args)
  t.teardown(() => gateway.close())
  const { credential: key } = await gateway.keys.create({})
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const request = (path: string, init: RequestInit = {}) =>
    new Request(`http://app.example${path}`, { headers, ...init })
  const post = (path: string, body: unknown, init: RequestInit = {}) =>
    gateway.fetch(request(path, { method: 'POST', body: JSON.stringify(body), ...init }))
  return { gateway, key, headers, request, post }
}

const asked = (stream = false) => ({ model: 'rehearsal', stream, messages: [{ role: 'user', content: 'Hello' }] })

t.test('a web request is answered without a port', async (t) => {
  const { gateway, request, post, headers } = await mounted(t, memory(), { prefix: '/ai' })
  const whole = await post('/ai/v1/chat/completions', asked())
  t.equal(whole.status, 200)
  t.match(await whole.json(), { object: 'chat.completion' })
  t.match(whole.headers.get('x-request-id'), /\w/)
  t.equal(whole.headers.get('connection'), null, 'nothing of a connection')
  const lines = await (await post('/ai/v1/chat/completions', asked(true))).text()
  t.match(lines, /data: \[DONE\]\n\n$/)
  t.equal((await gateway.fetch(request('/ai/health'))).status, 200)
  t.equal((await gateway.fetch(request('/ai'))).status, 200, 'the mount path itself')
  t.equal((await gateway.fetch(request('/aid/health'))).status, 404, 'another path')
  const head = await gateway.fetch(request('/ai/', { method: 'HEAD' }))
  t.same([head.status, await head.text()], [200, ''])
  t.equal((await gateway.fetch(new Request('http://app.example/ai/v1/models'))).status, 401)

  const content = Buffer.alloc(3_000_000, 7)
  const stored = await post('/ai/files/encrypted/upload', uploadOf(content))
  t.equal(stored.status, 200, 'a large upload')
  const { data } = (await stored.json()) as { data: { id: string } }
  const back = await gateway.fetch(new Request(`http://app.example/ai/files/encrypted/${data.id}/content`, { headers }))
  t.ok(content.equals(Buffer.from(await back.arrayBuffer())), 'every byte of it')
})

t.test('parts come as they are said, and whoever leaves ends the call', async (t) => {
  const backend = await talking(t, 'far')
  const upstreams = [use(openai, { baseUrl: backend.baseUrl, apiKey: 'x' })]
  const models = { far: { upstreams: [{ provider: 'openai' }] } }
  const { gateway, post } = await mounted(t, { ...memory({ network: true }), upstreams }, { models })
  const controller = new AbortController()
  const answer = await post('/v1/chat/completions', { ...asked(true), model: 'far' }, { signal: controller.signal })
  const reader = answer.body!.getReader()
  let output = ''
  const read = async (word: string) => {
    while (!output.includes(word)) output += Buffer.from((await reader.read()).value!).toString()
  }
  await read('far begins')
  backend.say('and goes on')
  await read('goes on')
  controller.abort(new Error('enough'))
  await t.rejects(reader.read(), { message: 'enough' }, 'the reader learns the reason')
  t.ok(await until(async () => (await gateway.drain(0)) === 0), 'and nothing is under way')

  const early = AbortSignal.abort(new Error('before'))
  await t.rejects(post('/v1/chat/completions', asked(), { signal: early }), { message: 'before' })
})

t.test('a fault has its class and its cause on standard error, and no message', async (t) => {
  const upstreams = [use(openai, { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'x' })]
  const models = { far: { upstreams: [{ provider: 'openai' }] } }
  const { post } = await mounted(t, { ...memory({ network: true }), upstreams }, { models, routing: { retries: 0 } })
  const written = t.capture(process.stderr, 'write', () => true)
  t.equal((await post('/v1/chat/completions', { ...asked(), model: 'far' })).status, 503)
  const lines = written().map(({ args }) => String(args[0]))
  t.match(
    lines.find((line) => line.startsWith('sealgate: fault')),
    /cause TypeError < Error( \w+)?\n$/,
  )
  t.notMatch(lines.join(''), /fetch failed|bad port/)
})

t.test('streams end with the gateway', async (t) => {
  const backend = await talking(t, 'far')
  const upstreams = [use(openai, { baseUrl: backend.baseUrl, apiKey: 'x' })]
  const models = { far: { upstreams: [{ provider: 'openai' }] } }
  const adapters = { ...memory({ network: true }), log: memory().log, upstreams }
  const { gateway, post } = await mounted(t, adapters, { models })
  const answer = await post('/v1/chat/completions', { ...asked(true), model: 'far' })
  await gateway.close()
  const rest = await Promise.race([answer.text(), sleep(5_000, 'still open')])
  t.match(rest, /far begins.*"error":.*Upstream service failed/s)
  const late = await post('/v1/chat/completions', { ...asked(), model: 'far' })
  t.same([late.status, backend.calls()], [503, 1], 'and nobody is asked any more')
})

t.test('a key that is bound to addresses needs one', async (t) => {
  const { gateway } = await mounted(t, memory())
  const { credential } = await gateway.keys.create({ addresses: ['10.0.0.0/8'] })
  const ask = (address?: string) => {
    const request = new Request('http://app.example/v1/models', { headers: { authorization: `Bearer ${credential}` } })
    return gateway.fetch(request, address === undefined ? {} : { address })
  }
  t.equal((await ask()).status, 401, 'unknown')
  t.equal((await ask('192.0.2.1')).status, 401, 'elsewhere')
  t.equal((await ask('10.1.2.3')).status, 200)
})

t.test('a mount path is taken off behind a server of one’s own', async (t) => {
  const { gateway } = await mounted(t, memory(), { prefix: '/ai' })
  const { port } = await listening(t, createServer(gateway.listener), '127.0.0.1')
  for (const path of ['/ai/health', '/health', '/ai?x=1'])
    t.equal((await fetch(`http://127.0.0.1:${port}${path}`)).status, 200, path)
  t.throws(() => createGateway(memory(), { prefix: 'ai/' }), /prefix/)
})

t.test('a backend that can’t be listed is told of once', async (t) => {
  let status = 500
  const backend = await recorded(() => ({ status, body: '{"data":[{"id":"found"}]}' }))
  t.teardown(() => backend.close())
  let now = Date.now()
  const gateway = await running(t, {
    ...memory({ network: true }),
    clock: use({ ...clock, create: () => ({ ...system.clock, now: () => now }) }),
    upstreams: [use(openai, { baseUrl: backend.url, apiKey: 'x' })],
  })
  const list = async () => {
    now += 61_000
    return (await (await gateway.call('GET', '/v1/models')).json()) as { data: unknown[] }
  }
  const told = () => gateway.logged.filter(({ event }) => event === 'models.unlisted').length
  await list()
  await list()
  t.equal(told(), 1)
  status = 200
  t.match(await list(), { data: [{ id: 'found' }] })
  status = 500
  await list()
  t.equal(told(), 2, 'and anew after it was back')
})

t.test('a body that another reader took is refused', async (t) => {
  const { gateway, request } = await mounted(t, memory())
  const body = JSON.stringify(asked())
  const read = request('/v1/chat/completions', { method: 'POST', body })
  await read.json()
  const locked = request('/v1/chat/completions', { method: 'POST', body })
  locked.body!.getReader()
  for (const taken of [read, locked])
    await t.rejects(gateway.fetch(taken), { status: 500, message: /Another reader took the body first/ })
  t.equal(await gateway.drain(0), 0, 'no call is left behind')
})
