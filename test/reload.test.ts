import './fakes/unwatched.ts'
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { enclaveWithin } from '../adapters/memory/enclave.ts'
import { memory } from '../adapters/memory/index.ts'
import { createGateway } from '../core/gateway.ts'
import { operator } from '../core/access/audit.ts'
import { connect } from '../plugins/sealed/client/client.ts'
import type { SealgateError } from '../plugins/sealed/client/error.ts'
import { Enclave } from '../core/ports/enclave.ts'
import { Upstream } from '../core/ports/upstream.ts'
import type { Renewal } from '../core/generations/reload.ts'
import type { SettingsInput } from '../core/settings.ts'
import { running } from './environments.ts'
import { served } from './fakes/served.ts'
import { talking } from './fakes/talking.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

const asked = (model: string, stream = false) => ({ model, stream, messages: [{ role: 'user', content: 'Hi' }] })

t.test('each thing lives as long as a request may need it', async (t) => {
  const life: string[] = []
  const calls: string[] = []
  let go = () => {}
  const held = new Promise<void>((resolve) => (go = resolve))
  const upstream = (name: string) =>
    given(Upstream, name, () => {
      life.push(`${name} made`)
      return {
        name,
        models: async () => [],
        async chat() {
          calls.push(name)
          if (name === 'a') await held
          const choices = [{ index: 0, message: { role: 'assistant', content: name }, finish_reason: 'stop' }]
          const completion = { id: 'c', object: 'chat.completion', created: 1, model: name, choices } as any
          return { kind: 'completion', completion }
        },
        dispose: () => void life.push(`${name} gone`),
      }
    })
  const [a, b, c] = ['a', 'b', 'c'].map(upstream)
  const models = (...providers: readonly string[]): SettingsInput => ({
    models: Object.fromEntries(providers.map((provider) => [`of-${provider}`, { upstreams: [{ provider }] }])),
  })
  let next: Renewal = { settings: {} }
  // The enclave of memory would make backends of its own.
  const apart = enclaveWithin()({ upstreams: [], tools: [] })
  const gateway = await running(t, { ...memory(), upstreams: [a!, b!], enclave: apart }, models('a', 'b'), (renew) =>
    renew(next),
  )
  const say = async (provider: string) => {
    const answer = await gateway.call('POST', '/std/chat/completions', asked(`of-${provider}`))
    return answer.status === 200 ? ((await answer.json()) as any).choices[0].message.content : answer.status
  }
  const reload = async (renewal: Renewal) => {
    next = renewal
    return (await gateway.call('POST', '/admin/reload')).status
  }
  const slow = say('a')
  t.ok(await until(() => calls.includes('a')))
  t.equal(await reload({ settings: models('b', 'c'), upstreams: [b!, c!] }), 200)
  t.same([await say('a'), await say('b'), await say('c')], [404, 'b', 'c'], 'for requests that begin now')
  await sleep(1300)
  t.same(life, ['a made', 'b made', 'c made'], 'what is still asked stays, and what is kept is not made anew')
  go()
  t.equal(await slow, 'a', 'a request ends with what it began with')
  t.ok(await until(() => life.includes('a gone')))

  const bad: readonly Renewal[] = [
    { settings: models('nobody') },
    { settings: models('b', 'd'), upstreams: [b!, upstream('d'), given(Upstream, 'broken', () => { throw new Error('no') })] }, // prettier-ignore
    { settings: { timeouts: { idle: 'x' } } as never },
    { settings: { ...models('b', 'c'), surfaces: ['admin'] } },
    { settings: { ...models('b', 'c'), names: { std: 'other' } } },
  ]
  for (const renewal of bad) t.equal(await reload(renewal), 400, JSON.stringify(renewal.settings))
  t.same([await say('a'), await say('b'), await say('c')], [404, 'b', 'c'], 'and nothing has changed')
  t.same(life.slice(4), ['d made', 'd gone'], 'nothing is left of what was refused')
  const refused = gateway.logged.filter(({ event }) => event === 'reload.refused')
  t.equal(refused.length, bad.length)
  const [first] = refused
  t.match(first, { facts: { paths: 'models.of-nobody.upstreams.0.provider', reason: /nobody/ } }, 'a path and a reason')
  t.equal(first?.cause, undefined, 'without frames')

  const { credential } = await gateway.gateway.keys.create({ organization: 'acme' })
  const upload = () => gateway.call('GET', '/admin/keys', undefined, { authorization: `Bearer ${credential}` })
  t.equal((await upload()).status, 200)
  const limited = { ...models('b', 'c'), organizations: { acme: { limits: { requestsPerSecond: 1 } } } }
  t.equal(await reload({ settings: limited }), 200)
  // The request before the reload has used up its second.
  await sleep(1100)
  const statuses = (await Promise.all(Array.from({ length: 20 }, upload))).map(({ status }) => status)
  // One second may end while they run; twenty do not.
  t.same([...new Set(statuses)].sort(), [200, 429])
  next = { settings: models('b') }
  await Promise.all([1, 2, 3].map(() => gateway.gateway.reload(operator('signal'))))
  t.same([await say('b'), await say('c')], ['b', 404], 'several at once, one after the other')
})

t.test('a renewal beside the end of the gateway leaves nothing behind', async (t) => {
  const life: string[] = []
  const upstream = (name: string) =>
    given(Upstream, name, () => {
      life.push(`${name} made`)
      return { name, models: async () => [], dispose: () => void life.push(`${name} gone`) }
    })
  const closing = (end: () => Promise<void>) =>
    given(Enclave, 'closing', () => {
      life.push('enclave made')
      const inner = enclaveWithin()({ upstreams: [], tools: [] }).make(() => ({}) as never)
      const keys = async () => {
        await end()
        return inner.keys()
      }
      return { ...inner, keys, dispose: () => void life.push('enclave gone') }
    })
  for (const when of ['before the new parts are made', 'while the new enclave begins']) {
    life.length = 0
    const gateway = createGateway({ ...memory(), upstreams: [upstream('a')], enclave: closing(async () => {}) })
    const isEarly = when.startsWith('before')
    const enclave = closing(isEarly ? async () => {} : gateway.close)
    const renewal = gateway.renew({ settings: {}, upstreams: [upstream('b')], enclave })
    const refused = t.rejects(renewal, { message: 'The gateway is closed' }, when)
    if (isEarly) await gateway.close()
    await refused
    t.equal(life.filter((word) => word.endsWith('made')).length, life.filter((word) => word.endsWith('gone')).length)
    t.equal(life.includes('b made'), !isEarly)
  }
})

interface Command {
  readonly base: string
  readonly key: string
  write(config: object | string): Promise<void>
  hup(): void
  /** The reader of the output ends. */
  silence(): void
  /** Confidential processes that it has. */
  enclaves(): number
  call(method: string, path: string, body?: unknown): Promise<Response>
  stop(): Promise<number | null>
}

const command = async (t: Test, config: object): Promise<Command> => {
  const file = join(t.testdir(), 'config.json')
  const write = (document: object | string) =>
    writeFile(file, typeof document === 'string' ? document : JSON.stringify(document))
  await write(config)
  const key = `sk_live_${'5'.repeat(44)}`
  const server = await served({ SEALGATE_DATA: join(t.testdirName, 'data'), SEALGATE_CONFIG: file, SEALGATE_KEY: key })
  t.teardown(() => server.child.kill('SIGKILL'))
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    base: server.base,
    key,
    write,
    hup: () => void server.child.kill('SIGHUP'),
    silence() {
      for (const output of [server.child.stdout, server.child.stderr]) output!.destroy()
    },
    enclaves: () =>
      execFileSync('pgrep', ['-P', String(server.child.pid)])
        .toString()
        .trim()
        .split('\n').length,
    call: (method, path, body) =>
      fetch(server.base + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
    stop: () => server.stop('SIGTERM'),
  }
}

t.test('the command reads its file again', async (t) => {
  const [a, b] = [await talking(t, 'a'), await talking(t, 'b')]
  const config = (baseUrl: string, more: object = {}, price = 1) => ({
    providers: { main: { use: 'openai', baseUrl, apiKey: 'x' }, rehearsal: { use: 'rehearsal' } },
    models: {
      small: {
        upstreams: [{ provider: 'main' }],
        price_config: { standard: { eu: { prompt_price_per_k: price, completion_price_per_k: price } } },
      },
      secret: { confidential: true, standard: false, upstreams: [{ provider: 'rehearsal', model: 'rehearsal' }] },
    },
    enclave: { providers: { rehearsal: { use: 'rehearsal' } } },
    ...more,
  })
  const server = await command(t, config(a.baseUrl))
  const say = async () => {
    const answer = await server.call('POST', '/std/chat/completions', asked('small'))
    return answer.status === 200 ? ((await answer.json()) as any).choices[0].message.content : answer.status
  }
  const kept = async () => ((await (await server.call('GET', '/admin/audit')).json()) as any).data.acts
  const acted = async (n: number) =>
    until(async () => {
      const reloads = (await kept()).filter(({ action, outcome }: any) => action === 'reload' && outcome !== 'begun')
      return reloads.length === n
    })
  const keyset = async () => ((await (await server.call('GET', '/rvenc/keys')).json()) as any).keyset

  const client = connect({ baseUrl: server.base, apiKey: server.key, policy: { allowInsecureDev: true } })
  t.ok((await client.chat.completions.create({ ...asked('secret'), stream: false })).choices[0], 'sealed, before')
  const keys = await keyset()
  t.equal(await say(), 'a')
  const stream = await server.call('POST', '/std/chat/completions', asked('small', true))
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  let heard = ''
  const hear = async (text: string) => {
    while (!heard.includes(text)) {
      const { done, value } = await reader.read()
      if (done) return false
      heard += value
    }
    return true
  }
  t.ok(await hear('a begins'))

  for (const [broken, pattern] of [
    ['{', /is not JSON/],
    [config(b.baseUrl, { limits: { keys: {} } }), /limits\.keys is not a known setting/],
    [config(b.baseUrl, { server: { drain: 1 } }), /:\d+:\d+ server can't be changed/],
    [config(b.baseUrl, { limits: { redis: 'redis://127.0.0.1:1' } }), / limits\.redis can't be changed/],
    [config(b.baseUrl, { storage: { blobs: { use: 'fs', folder: '/tmp/x' } } }), / storage can't be changed/],
    [config(b.baseUrl, { providers: { main: { use: 'openai', baseUrl: 5 } } }), / providers\.main\.baseUrl/],
    [config(b.baseUrl, { tools: { makeTea: {} } }), /there is no makeTea in tools/],
    [config(b.baseUrl, { enclave: { providers: { rehearsal: { use: 'rehearsal', no: 1 } } } }), / enclave\.providers/],
    [config(b.baseUrl, { enclave: { providers: {} } }), / models\.secret\.upstreams: none of its providers/],
    [config(b.baseUrl, { models: { m: { upstreams: [{ provider: 'x' }] } } }), /models\.m\.upstreams\.0\.provider/],
  ] as const) {
    await server.write(broken)
    const answer = await server.call('POST', '/admin/reload')
    const body = (await answer.json()) as any
    t.equal(answer.status, 400)
    t.match(body.validator.configuration, pattern)
    t.notMatch(JSON.stringify(body), /\/[^"]*config\.json/, 'nothing of where it lies')
  }
  server.hup()
  t.ok(await acted(11), 'by the signal, too')
  t.match((await kept())[0], { actor: 'signal', action: 'reload', outcome: 'refused' })
  t.equal(await say(), 'a', 'a bad file changes nothing')

  const less = { limits: { key: { requestsPerSecond: 2 } } }
  await server.write(config(b.baseUrl, less, 3))
  server.hup()
  t.ok(await until(async () => (await say()) === 'b'), 'another backend for what begins now')
  await sleep(1100)
  const many = await Promise.all(Array.from({ length: 20 }, () => server.call('GET', '/admin/keys')))
  // A busy machine takes its time for them, and the allowance grows meanwhile.
  t.ok(many.filter(({ status }) => status === 429).length > 8, 'new limits count at once')
  a.say(' and goes on')
  t.ok(await hear('and goes on'), 'a stream goes on where it began')
  a.end()
  t.ok(await hear('[DONE]'), 'and ends whole')
  await sleep(1100)
  t.equal(await keyset(), keys, 'the enclave is left alone where nothing concerns it')

  await server.write(config(b.baseUrl, { timeouts: { idle: 7000 } }, 3))
  await sleep(1100)
  t.equal((await server.call('POST', '/admin/reload')).status, 200)
  t.not(await keyset(), keys, 'and starts anew, with new keys, where something does')
  await sleep(1100)
  t.ok((await client.chat.completions.create({ ...asked('secret'), stream: false })).choices[0], 'the same client')
  t.ok(await until(() => server.enclaves() === 1), 'the old one is gone')
  const priced = async () => {
    const { data } = (await (await server.call('GET', '/admin/usage')).json()) as any
    return data.usage.find(({ model }: any) => model === 'small')?.cost ?? 0
  }
  t.ok(
    await until(async () => Math.abs((await priced()) - 2 * (a.calls() - 1) - 6 * b.calls()) < 0.5),
    'counted by the price that each began with',
  )
  t.equal(await server.stop(), 0)
})

t.test('an enclave learns the names of new rules at a reload, and goes on where a rule only changes', async (t) => {
  const upstreams = [{ provider: 'rehearsal', model: 'rehearsal' }]
  const config = (rules: object) => ({
    providers: { rehearsal: { use: 'rehearsal' } },
    models: {
      ...{ small: { upstreams }, judge: { type: 'DECISION', upstreams } },
      secret: { confidential: true, standard: false, upstreams },
      ...rules,
    },
  })
  const rule = (below: number) => ({
    auto: { decide: { with: 'judge', below }, routes: [{ when: 'easy', model: 'small' }] },
  })
  const server = await command(t, config({}))
  const client = connect({ baseUrl: server.base, apiKey: server.key, policy: { allowInsecureDev: true } })
  const codeOf = async (model: string) =>
    client.chat.completions.create({ ...asked(model), stream: false }).then(
      () => null,
      ({ code }: SealgateError) => code,
    )
  const reloaded = async (rules: object) => {
    await server.write(config(rules))
    t.equal((await server.call('POST', '/admin/reload')).status, 200)
  }
  const keyset = async () => ((await (await server.call('GET', '/rvenc/keys')).json()) as any).keyset
  t.equal(await codeOf('secret'), null)
  t.equal(await codeOf('auto'), 'unknown_model')
  await reloaded(rule(0))
  t.ok(await until(async () => (await codeOf('auto')) === 'model_is_rule'), 'the refusal says why')
  t.equal(await codeOf('secret'), null, 'the same client goes on')
  const keys = await keyset()
  await reloaded(rule(0.5))
  t.equal(await keyset(), keys, 'another threshold concerns no enclave')
  t.equal(await server.stop(), 0)
})

t.test('a gateway whose reader is gone refuses a faulty file and goes on', async (t) => {
  const server = await command(t, {})
  server.silence()
  await server.write('{')
  server.hup()
  const refused = async () => {
    const { data } = (await (await server.call('GET', '/admin/audit')).json()) as any
    return data.acts.some(({ action, outcome }: any) => action === 'reload' && outcome === 'refused')
  }
  t.ok(await until(refused), 'the refusal stands in the audit')
  await sleep(300)
  t.equal((await server.call('GET', '/admin/keys')).status, 200)
  t.equal(await server.stop(), 0)
})
