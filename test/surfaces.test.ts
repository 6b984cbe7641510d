import { join } from 'node:path'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { checkedConfig, settingsOf } from '../adapters/production/config/config.ts'
import { surfacesOf } from '../adapters/production/config/surfaces.ts'
import { createGateway } from '../core/gateway.ts'
import { json } from '../core/http/reply.ts'
import { type AnyRoute, route } from '../core/http/route.ts'
import { Surface } from '../core/ports/surface.ts'
import { Settings, type SettingsInput } from '../core/settings.ts'
import { running } from './environments.ts'
import { given } from './fitted.ts'

const wave = route({
  method: 'GET',
  path: '/semaphore/{text}',
  summary: 'Waves a text.',
  access: 'any-key',
  keyHeaders: ['x-flag'],
  needs: { settings: Settings },
  handle: ({ params }, { settings }) => json({ text: params.text, total: settings.timeouts.total }),
})

const semaphore = (change: Partial<AnyRoute> = {}, name = 'semaphore') => {
  const route = { ...(wave as AnyRoute), ...change }
  return given(Surface, name, () => ({
    name,
    routes: [route],
    chapter: async () => ({
      name: 'Semaphore',
      about: 'Texts by flags.',
      words: { text: 'The text.' },
      operations: { [`${route.method} ${route.path}`]: { about: 'Flags are waved by day.' } },
    }),
    links: () => ({ flags: '/semaphore' }),
    clients: () => ({ '<Signalmen>': '/semaphore' }),
  }))
}

const withOwn = (...own: readonly ReturnType<typeof semaphore>[]) => {
  const adapters = memory()
  return { ...adapters, surfaces: [...adapters.surfaces, ...own] }
}

t.test('an own surface is served with all others, and describes itself', async (t) => {
  const gateway = await running(t, withOwn(semaphore()))
  t.same(gateway.gateway.surfaces.slice(0, 3), ['v1', 'gemini', 'batches'])
  t.equal(gateway.gateway.surfaces.at(-1), 'semaphore')
  const asked = (headers: Record<string, string>) => fetch(`${gateway.base}/semaphore/hi`, { headers })
  t.equal((await asked({})).status, 401, 'to keys alone')
  t.match(await (await asked({ authorization: `Bearer ${gateway.key}` })).json(), { text: 'hi', total: 120_000 })
  t.equal((await asked({ 'x-flag': gateway.key })).status, 200, 'by a header of its own')

  const { paths, tags, components } = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as any
  const { tags: named, description, security } = paths['/semaphore/{text}'].get
  t.same(named, ['Semaphore'])
  t.match(description, /^Flags are waved by day\./)
  t.same(security.at(-1), { 'x-flag': [] })
  t.match(components.securitySchemes['x-flag'], { in: 'header', name: 'x-flag' })
  const names = tags.map(({ name }: { name: string }) => name)
  t.equal(names.filter((name: string) => name === 'Clients of public dialects').length, 1, 'one tag for both dialects')
  t.match(await (await fetch(`${gateway.base}/docs`)).text(), /Texts by flags\./)

  const { data } = (await (await fetch(gateway.base)).json()) as any
  t.match(data.links, { flags: '/semaphore', openai: '/v1', gemini: '/v1beta', agents: '/mcp', standard: '/std' })
  const page = await (await fetch(gateway.base, { headers: { accept: 'text/html' } })).text()
  t.match(page, `&#60;Signalmen&#62;</th><td><code>${gateway.base}/semaphore`)

  await gateway.gateway.renew({ settings: { timeouts: { total: 5_000 } } })
  t.match(await (await asked({ 'x-flag': gateway.key })).json(), { total: 5_000 }, 'a reload reaches its routes')
})

t.test('the setting names chapters and surfaces', async (t) => {
  const namesOf = async (surfaces: readonly string[]) => {
    const gateway = createGateway(withOwn(semaphore()), { surfaces: [...surfaces] })
    t.teardown(() => gateway.close())
    const { paths } = (await (await gateway.fetch(new Request('http://gateway/openapi.json'))).json()) as any
    return { names: gateway.surfaces, paths: Object.keys(paths) }
  }
  const dialects = await namesOf(['chat', 'v1'])
  t.same(dialects.names, ['v1', 'gemini', 'batches', 'chat'], 'v1 brings gemini and batches along')
  t.notOk(dialects.paths.includes('/semaphore/{text}'), 'an own surface that is not named is not served')
  const alone = await namesOf(['gemini'])
  t.ok(alone.paths.includes('/v1beta/models'))
  t.notOk(alone.paths.includes('/v1/models'), 'gemini comes alone')
  t.same((await namesOf(['v1', 'gemini', 'v1'])).names, ['v1', 'gemini', 'batches'], 'a name stands once')
  t.same((await namesOf([])).names, [])
})

t.test('the front answers a look for the gateway by itself', async (t) => {
  const gateway = await running(t, memory(), { surfaces: [] })
  const { status, headers } = await fetch(gateway.base, { method: 'HEAD' })
  t.same([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8'])
})

const ownFile = (root: string) => `
import * as v from ${JSON.stringify(import.meta.resolve('valibot'))}
import { json } from ${JSON.stringify(`${root}core/http/reply.js`)}
import { plugin } from ${JSON.stringify(`${root}core/plugin.js`)}
import { Surface } from ${JSON.stringify(`${root}core/ports/surface.js`)}
export default plugin({
  port: Surface,
  name: 'flags',
  settings: v.strictObject({ colour: v.optional(v.string(), 'red') }),
  create: (_, { colour }) => ({
    name: 'flags',
    routes: [{ method: 'GET', path: '/flags', summary: 'A colour.', access: 'any-key', needs: {}, handle: () => json({ colour }) }],
    chapter: async () => ({ name: 'Flags', about: 'Flags.', words: {}, operations: { 'GET /flags': {} } }),
  }),
})`

t.test('a configuration names an own surface by its path', async (t) => {
  const file = join(t.testdir({ 'flags.js': ownFile(new URL('../', import.meta.url).href) }), 'flags.js')
  const asked = (surfaces?: readonly unknown[]) => checkedConfig({ ...(surfaces && { surfaces }) }, {})
  const served = async (surfaces?: readonly unknown[]) => {
    const config = asked(surfaces)
    return running(t, { ...memory(), surfaces: await surfacesOf(config) }, settingsOf(config))
  }
  const plain = await served(['admin', file])
  t.same(plain.gateway.surfaces, ['admin', 'flags'])
  t.match(await (await plain.call('GET', '/flags')).json(), { colour: 'red' })
  const blue = await served([{ use: file, colour: 'blue' }, { use: 'v1' }])
  t.same(blue.gateway.surfaces, ['v1', 'batches', 'gemini', 'flags'])
  t.match(await (await blue.call('GET', '/flags')).json(), { colour: 'blue' })
  const settings = { ...memory(), surfaces: await surfacesOf(asked()) }
  const all = createGateway(settings)
  t.teardown(() => all.close())
  t.same(
    [...all.surfaces].sort(),
    [...createGateway(memory()).surfaces].sort(),
    'all of this package without the setting',
  )

  const alone = await surfacesOf(asked(['chat', 'admin']))
  t.same(
    alone.map(({ name }) => name),
    ['chat', 'admin'],
    'surfaces that stand alone load no other',
  )
  t.throws(() => asked(['chatt']), /^surfaces\.0 expected one of decision, chat, /)
  await t.rejects(surfacesOf(asked(['chat', { use: file, size: 1 }])), /^surfaces\.1\.size is not a known setting/)
  await t.rejects(surfacesOf(asked([join(file, '../none.js')])), /^surfaces\.0: /)
})

const refusal = (surfaces: readonly ReturnType<typeof semaphore>[], settings: SettingsInput = {}): string => {
  try {
    void createGateway(withOwn(...surfaces), settings).close()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

t.test('two doors with one path end the start', async (t) => {
  t.equal(refusal([semaphore()]), '')
  t.equal(
    refusal([semaphore(), semaphore({ path: '/semaphore/{other}' }, 'flags')]),
    'surfaces: semaphore and flags both have GET /semaphore/{other}',
  )
  t.equal(
    refusal([semaphore({ path: '/v1/models/{name}' })]),
    'surfaces: v1 and semaphore both have GET /v1/models/{name}',
  )
  t.equal(refusal([semaphore({ path: '/docs' })]), 'surfaces: semaphore and docs both have GET /docs')
  t.equal(refusal([semaphore({ path: '/health' })]), 'surfaces: front and semaphore both have GET /health')
  t.equal(
    refusal([semaphore({ path: '/admin/keys/mine', method: 'PATCH' })]),
    'surfaces: admin and semaphore both have PATCH /admin/keys/mine',
    'a fixed path that a parameter takes',
  )
  t.equal(
    refusal([semaphore({ path: '/{any}' })]),
    'surfaces: front and semaphore both have GET /{any}',
    'a parameter that takes a fixed path',
  )
  const posting = (path: string) => refusal([semaphore({ path, method: 'POST' })])
  t.match(posting('/v1beta/models/{name}'), /^surfaces: gemini and semaphore both have/)
  t.equal(posting('/v1beta/models/{name}:describeContent'), '', 'another ending is another path')
  t.equal(posting('/v1beta/models/all-of-those-that-are-there'), '', 'a fixed path without the ending, too')
  t.equal(refusal([semaphore({ path: '/docs', method: 'DELETE' })]), '', 'another method is another route')
  t.equal(refusal([], { names: { std: 'v1' } }), '', 'the standard routes may be called v1')
  t.equal(
    refusal([semaphore({ path: '/flags/models' })], { names: { std: 'flags' } }),
    'surfaces: chat and semaphore both have GET /flags/models',
    'a surface gets no path that a name of the settings gives',
  )
})

t.test('a route without access, an unknown name and a name of two end the start', async (t) => {
  for (const access of [undefined, 'everyone', {}, null])
    t.equal(
      refusal([semaphore({ access: access as never })]),
      'surfaces: semaphore has no access for GET /semaphore/{text}',
    )
  t.equal(
    refusal([semaphore()], { surfaces: ['chat', 'chatt'] }),
    'settings: surfaces.1 is none of decision, chat, rvenc, tools, files, index, admin, v1, gemini, batches, mcp, ehbp, console, semaphore',
  )
  t.match(refusal([], { surfaces: ['chat', 'chatt', 'v1'] }), /^settings: surfaces\.1 /, 'by its place')
  t.equal(refusal([semaphore({}, 'mcp')]), 'surfaces: mcp is the name of two')
  t.equal(refusal([semaphore({}, 'chat')]), 'surfaces: chat is the name of two')
})
