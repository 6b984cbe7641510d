import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { bootGateway } from '../adapters/production/commands/boot-gateway.ts'
import type { NewKey } from '../core/access/keyring.ts'
import { Configuration } from '../plugins/surfaces/admin/configuration.ts'
import { Clock } from '../core/ports/platform.ts'
import { running } from './environments.ts'
import { fakeClock } from './fakes/clock.ts'
import { ownProcess } from './fakes/command-runner.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

/** Values that no answer may have, by where they stand. */
const secrets = {
  apiKey: 'sk-literal-key-of-the-account',
  header: 'header-of-a-backend',
  headerName: 'x-name-of-a-secret-header',
  user: 'https://someone:password-in-an-address@models.example/v1',
  query: 'https://models.example/v1?token=token-in-a-query',
  path: 'https://models.example/v1/0123456789abcdef0123456789abcdef',
  webhook: 'https://hooks.example/services/T00/B00/short',
  whsec: `whsec_${'c2VjcmV0'.repeat(5)}`,
  keepsakes: 'a-secret-that-seals-what-callers-keep',
  description: 'words that nobody checked',
  folder: '/srv/a-folder-of-this-machine',
  client: 'client-of-a-login',
  claim: 'claim-of-a-person',
  policy: 'measurement-of-a-policy',
} as const

/** Values of variables. */
const variables = {
  OPENAI_KEY: 'sk-key-from-a-variable',
  SAME_KEY: 'sk-key-from-a-variable',
  PLACE: 'https://from-a-variable.example/v1',
  HEADER: 'header-from-a-variable',
  LOGIN: 'login-from-a-variable',
} as const

const issuer = {
  issuer: 'https://login.example',
  keys: 'https://login.example/keys',
  audience: 'sealgate',
  login: {
    client: secrets.client,
    secret: '$LOGIN',
    authorize: 'https://login.example/authorize',
    token: 'https://login.example/token',
    redirect: 'https://gateway.example/console',
  },
  grants: [{ organization: 'acme', when: { [secrets.claim]: secrets.claim } }],
}

const hostile = '<img src=x onerror="globalThis.owned=1">'

const base = {
  // Nothing of these tests concerns an enclave.
  enclave: { connect: ['/nowhere/enclave.sock'] },
  providers: {
    main: {
      use: 'openai',
      baseUrl: '$PLACE',
      apiKey: '$OPENAI_KEY',
      headers: { [secrets.headerName]: secrets.header, authorization: '$HEADER' },
      decisions: true,
    },
    literal: {
      use: 'openai',
      baseUrl: 'https://models.example/v1',
      apiKey: secrets.apiKey,
      organization: secrets.user,
    },
    user: { use: 'openai', baseUrl: secrets.user },
    query: { use: 'openai', baseUrl: secrets.query },
    path: { use: 'openai', baseUrl: secrets.path },
  },
  models: {
    small: { upstreams: [{ provider: 'main', model: 'gpt-small' }], description: secrets.description },
    [hostile]: { upstreams: [{ provider: 'literal' }] },
  },
  storage: { blobs: { use: 'fs', folder: '$FOLDER' } },
  limits: { budgets: { webhook: { url: secrets.webhook, secret: secrets.whsec } } },
  keepsakes: { secret: secrets.keepsakes },
  issuers: { company: issuer },
  tools: {},
}

interface Shown {
  readonly origin: string
  readonly content: string
  readonly value: unknown
  readonly variable: string | null
  readonly set: boolean | null
}

interface Told {
  readonly file: string
  readonly read_at: number
  readonly settings: readonly (Shown & { readonly path: readonly string[] })[]
  readonly faults: readonly string[]
  readonly changes:
    | readonly {
        readonly path: readonly string[]
        readonly change: string
        readonly restart: boolean
        readonly before: Shown | null
        readonly after: Shown | null
      }[]
    | null
}

const house = async (t: Test, config: object | string = base, surfaces: readonly string[] | null = null) => {
  const folder = t.testdir()
  const file = join(folder, 'sealgate.jsonc')
  const write = (document: object | string) =>
    writeFile(file, typeof document === 'string' ? document : JSON.stringify(document))
  await write(config)
  const env = {
    ...variables,
    FOLDER: join(folder, 'blobs'),
    SEALGATE_CONFIG: file,
    SEALGATE_DATA: join(folder, 'data'),
    SEALGATE_LOG: 'silent',
  }
  const { gateway } = await bootGateway(env, surfaces)
  t.teardown(() => gateway.close())
  const made = async (key: NewKey = {}) => (await gateway.keys.create(key)).credential
  const own = await made()
  const ask = async (method: string, path: string, key = own, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const answer = await gateway.fetch(new Request(`http://gateway${path}`, request))
    const text = await answer.text()
    return { status: answer.status, text, json: JSON.parse(text) }
  }
  const told = async (): Promise<Told> => (await ask('GET', '/admin/configuration')).json.data
  const at = async (...path: readonly string[]) =>
    (await told()).settings.filter((setting) => setting.path.join(' ') === path.join(' '))
  return { own, gateway, folder, file, env, write, made, ask, told, at }
}

const check = '/admin/configuration/check'

t.test('no secret leaves, wherever it stands', async (t) => {
  const gateway = await house(t)
  const answer = await gateway.ask('GET', '/admin/configuration')
  t.equal(answer.status, 200)
  const all = { ...secrets, ...variables, folder: gateway.folder }
  const leaked = (text: string) =>
    Object.entries(all)
      .filter(([, secret]) => text.includes(secret))
      .map(([name]) => name)
  t.same(leaked(answer.text), [])
  const evidence = { kind: 'attested-tls', policy: { measurement: secrets.policy } }
  const proven = { use: 'openai', baseUrl: 'https://proven.example', evidence }
  const changed = JSON.parse(
    JSON.stringify({ ...base, providers: { ...base.providers, proven } }).replaceAll('sk-literal', 'sk-another'),
  )
  changed.keepsakes.secret += ' and more'
  changed.limits.budgets.webhook.url += '/and-more'
  changed.providers.user.baseUrl += '/and-more'
  changed.providers.main.headers[secrets.headerName] += ' and more'
  await gateway.write(changed)
  const differs = await gateway.ask('GET', '/admin/configuration')
  t.same(leaked(differs.text), [])
  t.notMatch(differs.text, /sk-another|and more|and-more/)
  const { changes } = differs.json.data as Told
  const changeAt = (path: string) => changes?.find((change) => change.path.join('.') === path)
  for (const path of [
    'providers.literal.apiKey',
    'keepsakes.secret',
    'limits.budgets.webhook.url',
    'providers.user.baseUrl',
    'providers.main.headers',
  ])
    t.match(
      changeAt(path),
      { change: 'changed', before: { content: 'hidden', value: null }, after: { content: 'hidden', value: null } },
      `${path} says only that it changed`,
    )
  t.match(changeAt('providers.proven.evidence.policy'), { change: 'added', after: { content: 'hidden' } })
  t.same(leaked((await gateway.ask('POST', check)).text), [])
})

t.test('each setting says where it comes from', async (t) => {
  const gateway = await house(t)
  const { file, read_at, settings } = await gateway.told()
  t.equal(file, 'sealgate.jsonc', 'without its folder')
  t.ok(read_at <= Date.now() && read_at > Date.now() - 600_000)
  const one = (path: string) =>
    settings.filter((each) => each.path.join('.') === path).map(({ path: _, ...shown }) => shown)
  const plain = { variable: null, set: null }
  t.same(one('providers.main.use'), [{ ...plain, origin: 'written', content: 'value', value: 'openai' }])
  t.same(
    one('providers.main.decisions'),
    [{ ...plain, origin: 'written', content: 'value', value: true }],
    'a flag of a plugin',
  )
  t.same(one('providers.literal.baseUrl'), [
    { ...plain, origin: 'written', content: 'value', value: 'https://models.example/v1' },
  ])
  t.same(one('providers.literal.apiKey'), [{ ...plain, origin: 'written', content: 'hidden', value: null }])
  t.same(one('providers.main.apiKey'), [
    { origin: 'variable', content: 'hidden', value: null, variable: 'OPENAI_KEY', set: true },
  ])
  t.same(one('providers.main.baseUrl'), [
    { origin: 'variable', content: 'hidden', value: null, variable: 'PLACE', set: true },
  ])
  t.same(one('providers.main.headers.authorization'), [
    { origin: 'variable', content: 'hidden', value: null, variable: 'HEADER', set: true },
  ])
  t.same(
    one('providers.main.headers'),
    [{ ...plain, origin: 'written', content: 'hidden', value: null }],
    'and that there are others',
  )
  t.same(one('models.small.upstreams.0.model'), [{ ...plain, origin: 'written', content: 'value', value: 'gpt-small' }])
  t.same(one('models.small.description'), [{ ...plain, origin: 'written', content: 'hidden', value: null }])
  t.same(
    one('models.small.type'),
    [{ ...plain, origin: 'default', content: 'value', value: 'CHAT' }],
    'a word of a list',
  )
  t.same(one('routing.retries'), [{ ...plain, origin: 'default', content: 'value', value: 2 }])
  t.same(one('routing.hedge'), [{ ...plain, origin: 'default', content: 'value', value: null }])
  t.same(one('tools'), [{ ...plain, origin: 'written', content: 'empty', value: null }])
  t.same(one('issuers.company.issuer'), [
    { ...plain, origin: 'written', content: 'value', value: 'https://login.example' },
  ])
  t.same(one('issuers.company.grants.0.when'), [{ ...plain, origin: 'written', content: 'hidden', value: null }])
  t.same(one('enclave.connect.0'), [{ ...plain, origin: 'written', content: 'hidden', value: null }])
  t.ok(
    settings.some(({ path }) => path[1] === hostile),
    'names are text',
  )
  t.equal(new Set(settings.map(({ path }) => JSON.stringify(path))).size, settings.length, 'each once')
})

t.test('the configuration is for operators', async (t) => {
  const gateway = await house(t)
  const status = async (method: string, path: string, key: string) => (await gateway.ask(method, path, key)).status
  const stranger = await gateway.made({ organization: 'other' })
  const reader = await gateway.made({ scopes: ['api_key.read'] })
  const writer = await gateway.made({ scopes: ['api_key.update'] })
  const gets = (key: string) => status('GET', '/admin/configuration', key)
  const checks = (key: string) => status('POST', check, key)
  t.same([await gets(stranger), await checks(stranger)], [403, 403], 'another organisation')
  t.same([await gets(reader), await checks(reader)], [200, 403])
  t.same([await gets(writer), await checks(writer)], [403, 200])
  t.same([await gets('sk_live_none'), await checks('sk_live_none')], [401, 401])
  const { rows } = await gateway.gateway.audit.list({ order: { by: 'at', descending: false } })
  t.match(
    rows.map(({ row }) => [row.action, row.object, row.outcome]),
    [['configuration.check', null, 'done']],
    'a check stands in the audit',
  )
})

t.test('the difference is what a reload would change', async (t) => {
  const gateway = await house(t)
  const before = await gateway.told()
  t.same(before.changes, [])
  t.same(before.faults, [])
  const { tools: _, ...next } = structuredClone(base)
  const changed = {
    ...next,
    providers: { ...next.providers, main: { ...next.providers.main, apiKey: '$SAME_KEY' } },
    routing: { retries: 3 },
    timeouts: { total: 120_000 },
    files: { sweep: 7_200_000 },
    models: { ...next.models, 'gpt-4.1': { upstreams: [{ provider: 'main' }] } },
    server: { drain: 5 },
  }
  await gateway.write(changed)
  const { changes, settings } = await gateway.told()
  const sides = (changes ?? []).map(({ path, change, restart, before, after }) => [
    path.join('/'),
    change,
    restart,
    before && (before.variable ?? before.value),
    after && (after.variable ?? after.value),
  ])
  const of = (path: string) => sides.find(([document]) => document === path)
  t.same(of('routing/retries'), ['routing/retries', 'changed', false, 2, 3])
  t.same(
    of('providers/main/apiKey'),
    ['providers/main/apiKey', 'changed', false, 'OPENAI_KEY', 'SAME_KEY'],
    'another variable',
  )
  t.same(of('tools'), ['tools', 'removed', false, null, null])
  t.same(of('models/gpt-4.1/upstreams/0/provider'), [
    'models/gpt-4.1/upstreams/0/provider',
    'added',
    false,
    null,
    'main',
  ])
  t.same(of('server/drain'), ['server/drain', 'changed', true, 600_000, 5], 'a running gateway keeps it')
  t.same(of('files/sweep')?.slice(0, 3), ['files/sweep', 'changed', true])
  t.equal(of('timeouts/total'), undefined, 'a default that is written down')
  t.same(
    sides.filter(([path]) => !/^(?:models\/gpt|routing|providers|tools|server|files)/.test(String(path))),
    [],
    'and nothing else',
  )
  t.same(settings, before.settings, 'what is in effect stays')
  t.equal((await gateway.ask('POST', '/admin/reload')).status, 400, 'a reload refuses what wants a restart')
  const { server: __, files: ___, ...taken } = changed
  await gateway.write(taken)
  t.equal((await gateway.ask('POST', '/admin/reload')).status, 200)
  const after = await gateway.told()
  t.same(after.changes, [])
  t.match(await gateway.at('routing', 'retries'), [{ origin: 'written', value: 3 }])
  t.ok(after.read_at >= before.read_at)
})

t.test('other chains are tried as the command checks a file, and nothing changes', async (t) => {
  const gateway = await house(t)
  const tried = (upstreams: readonly object[], key = gateway.own) =>
    gateway.ask('POST', '/admin/configuration/try', key, { models: { small: { upstreams } } })
  const { data } = (await tried([{ provider: 'main', model: 'gpt-small', weight: 3 }])).json
  t.same(data.faults, [])
  t.match(data.changes, [{ path: ['models', 'small', 'upstreams', '0', 'weight'], after: { value: 3 } }])
  t.equal(data.changes.length, 1, 'the rest of the model stays')
  t.match((await tried([{ provider: 'nowhere' }])).json.data, { faults: [/nowhere|not a provider/], changes: null })
  const main = { provider: 'main' }
  for (const wrong of [
    [],
    [{ provider: '$OPENAI_KEY' }],
    [{ ...main, model: '$OPENAI_KEY' }],
    [{ ...main, use: 'openai' }],
  ])
    t.equal((await tried(wrong)).status, 400, JSON.stringify(wrong))
  const endless = new Request('http://gateway/admin/configuration/try', {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.own}`, 'content-type': 'application/json' },
    body: '{"models":{"small":{"upstreams":[{"provider":"main","weight":1e999}]}}}',
  })
  t.equal((await gateway.gateway.fetch(endless)).status, 400, 'a weight without an end')
  t.same((await gateway.told()).changes, [], 'the file stays')
  for (const key of [{ scopes: ['api_key.read'] }, { organization: 'other' }] as const)
    t.equal((await tried([main], await gateway.made(key))).status, 403)
})

t.test('a setting of the command line or of a variable is no difference to the file', async (t) => {
  const gateway = await house(t, base, ['admin', 'chat'])
  t.same((await gateway.told()).changes, [])
  t.match(await gateway.at('surfaces', '0'), [{ origin: 'written', value: 'admin' }])
  t.match(await gateway.at('log', 'level'), [{ value: 'silent' }])
})

t.test('a wrong file is told in the sentences of the command', async (t) => {
  const gateway = await house(t)
  const said = async () => {
    const { stdout, stderr } = await ownProcess(['check', gateway.file, '--offline'], gateway.env)
    return (stdout + stderr.replace(/^sealgate: /, ''))
      .replaceAll(`${gateway.folder}/`, '')
      .split('\n')
      .filter((line) => line !== '' && !/^\d+ faults?$/.test(line))
  }
  const checked = async () => (await gateway.ask('POST', check)).json.data.faults
  const files = [
    '{\n  "routing": {\n    "retry": 2,\n    "retries": 17\n  },\n  "limits": { "keys": 1 }\n}',
    '{ "providers": {',
    '[]',
    '{ "keepsakes": { "secret": "$NOT_SET" } }',
  ]
  for (const file of files) {
    await gateway.write(file)
    const { faults, changes } = await gateway.told()
    t.same(faults, await said())
    t.same(await checked(), faults, 'a check has them too')
    t.equal(changes, null)
  }
  await gateway.write(files[0]!)
  t.match(
    (await said()).toSorted(),
    [
      /^sealgate.jsonc:3:5 routing.retry is not/,
      /^sealgate.jsonc:4:5 routing.retries/,
      /^sealgate.jsonc:6:15 limits.keys/,
    ],
    'all at once, with their places',
  )
  await gateway.write({ ...base, models: { small: { upstreams: [{ provider: 'mian' }] } }, tools: { getTine: {} } })
  t.same((await gateway.told()).faults, [], 'the plugins are asked by a check alone')
  t.same(await checked(), await said())
  t.equal((await checked()).length, 2)
  await rm(gateway.file)
  t.same((await gateway.told()).faults, ["sealgate.jsonc: can't be read (ENOENT)"])
  await mkdir(gateway.file)
  t.same(await checked(), ['sealgate.jsonc: is no file that can be read again'])
  await rm(gateway.file, { recursive: true })
  await promisify(execFile)('mkfifo', [gateway.file])
  t.same(
    (await gateway.told()).faults,
    ['sealgate.jsonc: is no file that can be read again'],
    'nothing waits for a pipe',
  )
  await rm(gateway.file)
  await gateway.write(`{}${' '.repeat(8 * 1024 * 1024)}`)
  t.match((await gateway.told()).faults, [/^sealgate.jsonc: has more than 8388608 bytes/])
  t.same((await gateway.told()).settings.length > 100, true, 'what is in effect is told all the same')
})

t.test('one check goes on at a time', async (t) => {
  const gateway = await house(t)
  const plugin = join(gateway.folder, 'slow.mjs')
  const shared = globalThis as { began?: () => void; held?: Promise<void> }
  const began = new Promise<void>((resolve) => (shared.began = resolve))
  let go = () => {}
  shared.held = new Promise((resolve) => (go = resolve))
  await writeFile(plugin, 'globalThis.began()\nawait globalThis.held\nexport default {}\n')
  await gateway.write({ ...base, providers: { ...base.providers, slow: { use: plugin } } })
  t.same((await gateway.told()).faults, [], 'looking loads no plugin of the operator’s own')
  const first = gateway.ask('POST', check)
  await began
  const second = await gateway.ask('POST', check)
  t.equal(second.status, 409)
  t.match(second.json, { error: 'A check is under way in this process' })
  go()
  t.match((await first).json.data.faults, [/slow.*does not export a plugin/])
  t.equal((await gateway.ask('POST', check)).status, 200, 'the place is free')
})

t.test('a check that does not end leaves its place', async (t) => {
  const clock = fakeClock()
  let looks = 0
  const endless = given(Configuration, 'endless', () => ({
    inEffect: async () => ({ file: null, readAt: 0, settings: [] }),
    compare: async () => ({ faults: [], changes: [] }),
    try: async () => ({ faults: [], changes: [], call: null }),
    check: () => (looks++ === 0 ? new Promise(() => {}) : Promise.resolve([])),
  }))
  const fake = given(Clock, 'clock', () => clock)
  const gateway = await running(t, { ...memory(), clock: fake, parts: [...memory().parts, endless] })
  const first = gateway.call('POST', check)
  t.ok(await until(() => looks === 1))
  t.equal((await gateway.call('POST', check)).status, 409)
  await clock.pass(30_000)
  t.equal((await gateway.call('POST', check)).status, 200)
  t.equal((await first).status, 503)
})

t.test('the settings of an own plugin are hidden, but for its variables', async (t) => {
  const gateway = await house(t)
  const plugin = join(gateway.folder, 'own.mjs')
  await writeFile(plugin, 'export default {}\n')
  const own = { use: plugin, apiKey: '$LOGIN', retries: 4, [secrets.claim]: secrets.header }
  await gateway.write({ ...base, providers: { ...base.providers, own } })
  const { changes } = await gateway.told()
  const ofOwn = changes
    ?.filter(({ path }) => path[1] === 'own')
    .map(({ path, after }) => [path.slice(2).join('.'), after?.origin, after?.content])
  t.same(ofOwn?.sort(), [
    ['', 'written', 'hidden'],
    ['apiKey', 'variable', 'hidden'],
    ['use', 'written', 'hidden'],
  ])
})

t.test('a gateway whose settings come from code says so', async (t) => {
  const gateway = await running(t, memory())
  for (const [method, path] of [
    ['GET', '/admin/configuration'],
    ['POST', check],
  ] as const) {
    const answer = await gateway.call(method, path)
    t.equal(answer.status, 400)
    t.match(await answer.json(), {
      error: 'This deployment is not set up for it',
      validator: { configuration: /read again/ },
    })
  }
})

t.test('environment variables are a configuration too', async (t) => {
  const folder = t.testdir()
  const env = {
    SEALGATE_DATA: join(folder, 'data'),
    SEALGATE_LOG: 'silent',
    OPENAI_API_KEY: secrets.apiKey,
    OLLAMA_HOST: '127.0.0.1:1',
  }
  const { gateway } = await bootGateway(env)
  t.teardown(() => gateway.close())
  const { credential } = await gateway.keys.create({})
  const request = new Request('http://gateway/admin/configuration', {
    headers: { authorization: `Bearer ${credential}` },
  })
  const text = await (await gateway.fetch(request)).text()
  t.notMatch(text, secrets.apiKey)
  const { data } = JSON.parse(text) as { data: Told }
  t.equal(data.file, null)
  t.same(data.changes, [])
  t.match(
    data.settings.find(({ path }) => path.join('.') === 'providers.openai.apiKey'),
    { origin: 'variable', variable: 'OPENAI_API_KEY', set: true },
  )
  t.match(
    data.settings.find(({ path }) => path.join('.') === 'providers.ollama.baseUrl'),
    { value: 'http://127.0.0.1:1' },
  )
})
