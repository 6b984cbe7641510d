import { Metrics } from '../plugins/observers/prometheus/metrics.ts'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Context } from 'koa'
import t, { type Test } from 'tap'
import { system } from '../adapters/memory/platform.ts'
import { memory } from '../adapters/memory/index.ts'
import { sendEvents } from '../core/http/events.ts'
import { render } from '../core/http/render.ts'
import { bytes } from '../core/http/reply.ts'
import { type Alarm, Clock } from '../core/ports/platform.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import { type Running, environments, running } from './environments.ts'
import { formOf } from './fakes/uploads.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

const errorFields = ['status', 'data', 'error', 'message', 'env', 'log', 'validator', 'support_id']

for (const [name, adapters] of Object.entries(environments)) {
  t.test(name, async (t) => {
    const gateway = await running(t, await adapters(t))

    t.test('one 401 for every kind of bad key', async (t) => {
      const { keys } = gateway.gateway
      const expired = await keys.create({ expires_at: Date.now() - 1 })
      const revoked = await keys.create({})
      t.ok(await keys.revoke(revoked.row.id, null))
      const elsewhere = await keys.create({ addresses: ['10.0.0.0/8', '::2'] })
      const kinds: Record<string, string | null> = {
        missing: null,
        malformed: 'Bearer nonsense',
        empty: 'Bearer ',
        'another scheme': `Basic ${gateway.key}`,
        unknown: `Bearer sk_live_${'1'.repeat(44)}`,
        'a letter changed': `Bearer ${gateway.key.slice(0, -1)}${gateway.key.endsWith('2') ? '3' : '2'}`,
        'only the random part': `Bearer ${gateway.key.slice(8)}`,
        'the other prefix': `Bearer ${gateway.key.replace('live', 'test')}`,
        expired: `Bearer ${expired.credential}`,
        revoked: `Bearer ${revoked.credential}`,
        'another address': `Bearer ${elsewhere.credential}`,
      }
      const set = new Set<string>()
      for (const [kind, authorization] of Object.entries(kinds)) {
        const answer = await fetch(
          `${gateway.base}/admin/keys`,
          authorization === null ? {} : { headers: { authorization } },
        )
        const { support_id, log, ...body } = (await answer.json()) as any
        t.equal(answer.status, 401, kind)
        set.add(JSON.stringify(body))
      }
      t.equal(set.size, 1, 'in the same words')
      const sent = await gateway.call('GET', '/tools', undefined, { authorization: 'Bearer nonsense' })
      t.equal(sent.status, 401, 'a key that is not needed must be valid if sent')
      t.equal((await fetch(`${gateway.base}/tools`)).status, 200)
      const here = await keys.create({ addresses: ['127.0.0.0/8'] })
      t.equal(
        (await gateway.call('GET', '/admin/keys', undefined, { authorization: `Bearer ${here.credential}` })).status,
        200,
      )
    })

    t.test('keys over the network', async (t) => {
      const made = await gateway.call('POST', '/admin/keys', { name: 'ci', scopes: ['tools.execute', 'api_key.read'] })
      t.equal(made.status, 201)
      const { data } = (await made.json()) as any
      t.match(data.key, /^sk_live_[1-9A-HJ-NP-Za-km-z]{44}$/)
      const as = (method: string, path: string, body?: unknown) =>
        gateway.call(method, path, body, { authorization: `Bearer ${data.key}` })
      t.equal((await as('GET', '/admin/keys')).status, 200)
      t.equal((await as('POST', '/admin/keys', {})).status, 403, 'a missing scope')
      t.equal((await as('DELETE', `/admin/keys/${data.id}`)).status, 403)
      const listed = (await (await gateway.call('GET', '/admin/keys?limit=100')).json()) as any
      t.ok(listed.data.keys.some(({ id }: any) => id === data.id))
      t.notMatch(JSON.stringify(listed), data.key, 'a key is shown once')
      t.equal(listed.data.pagination.total, listed.data.keys.length)
      const more = await as('POST', '/admin/keys', { scopes: ['api_key.delete'] })
      t.equal(more.status, 403)
      t.equal((await gateway.call('DELETE', `/admin/keys/${data.id}`)).status, 200)
      t.equal((await as('GET', '/admin/keys')).status, 401, 'revoked at once in this process')
      t.equal((await gateway.call('DELETE', '/admin/keys/key_nothing')).status, 404)
      const foreign = await gateway.gateway.keys.create({ organization: 'other' })
      const theirs = (await (
        await gateway.call('GET', '/admin/keys', undefined, { authorization: `Bearer ${foreign.credential}` })
      ).json()) as any
      t.same(
        theirs.data.keys.map(({ id }: any) => id),
        [foreign.row.id],
        'organisations see their own',
      )
      t.equal((await gateway.call('DELETE', `/admin/keys/${foreign.row.id}`)).status, 404)
      const everybodys = [['GET', '/metrics'] as const, ['POST', '/admin/reload'] as const]
      for (const [method, path] of everybodys) {
        const answer = await gateway.call(method, path, undefined, { authorization: `Bearer ${foreign.credential}` })
        t.equal(answer.status, 403, `${path} is not for their administrators`)
      }
    })

    t.test('bad input is a clear 400 and never echoed', async (t) => {
      const canary = 'Zx9canary'
      const post = (body: string, headers = {}) => gateway.call('POST', '/admin/keys', body, headers)
      const deep = '['.repeat(10_000) + ']'.repeat(10_000)
      const cases: Record<string, string> = {
        malformed: `{"name":"${canary}"`,
        'not an object': `"${canary}"`,
        nothing: '',
        'wrong type': `{"name":{"${canary}":1}}`,
        'wrong value': `{"mode":"${canary}"}`,
        deep,
        'deep in a field': `{"name":${deep}}`,
        'NUL byte': `{"name":"a\u0000${canary}"}`,
        'past date': '{"expires_at":5}',
        'bad address': `{"addresses":["${canary}"]}`,
        prototype: `{"__proto__":{"x":"${canary}"},"scopes":"all"}`,
      }
      for (const [kind, body] of Object.entries(cases)) {
        const answer = await post(body)
        const text = await answer.text()
        t.equal(answer.status, 400, `${kind}: ${text.slice(0, 200)}`)
        t.notMatch(text, canary, kind)
        t.same(Object.keys(JSON.parse(text)), errorFields, kind)
      }
      t.match(
        ((await (await post('{"name":1,"mode":"x","limits":{"requestsPerSecond":-1}}')).json()) as any).validator,
        {
          name: /string/,
          mode: /live/,
          'limits.requestsPerSecond': String,
        },
      )
      t.match(((await (await post('{"unheard":1}')).json()) as any).validator, { unheard: 'Unknown field' })
      const large = await post(JSON.stringify({ name: 'x'.repeat(10 * 1024 * 1024) }))
      t.equal(large.status, 400)
      t.match(((await large.json()) as any).error, /65536 bytes/)
      const junk = await gateway.call('POST', '/admin/keys', undefined, {}).catch(() => null)
      t.equal(junk?.status, 400, 'no body at all')
      t.equal((await post('{}', { 'content-encoding': 'gzip' })).status, 400)
      t.equal((await gateway.call('GET', '/admin/keys?limit=0')).status, 400)
      t.equal((await gateway.call('GET', '/admin/keys?limit=1000')).status, 400)
      t.equal((await gateway.call('GET', '/admin/keys?offset=-1')).status, 400)
      t.equal((await gateway.call('GET', '/admin/keys?unknown=1')).status, 400)
      t.equal((await gateway.call('GET', '/health/live')).status, 200, 'the process lives')
    })

    t.test('paths and methods', async (t) => {
      for (const path of ['/nothing', '/tools/../admin', '/%', '/admin/keys/', '//tools']) {
        const answer = await fetch(gateway.base + path)
        t.ok([404, 400, 401].includes(answer.status), `${path} ${answer.status}`)
        t.same(Object.keys((await answer.json()) as object), errorFields)
      }
      t.equal((await gateway.call('POST', '/health/live')).status, 405, 'a wrong method')
      t.match(
        ((await (await gateway.call('POST', '/std/v1/chat/completions', {})).json()) as any).error,
        /base URL ends in \/std/,
      )
      t.match(
        ((await (await gateway.call('POST', '/compat/v1/v1/systemone', {})).json()) as any).error,
        /base URL ends in \/compat/,
      )
    })

    t.test('what Node refuses is answered in the envelope too', async (t) => {
      const raw = async (text: string) => {
        const socket = connect(Number(new URL(gateway.base).port), '127.0.0.1')
        socket.end(text)
        let answer = ''
        for await (const part of socket) answer += part
        return answer
      }
      for (const [kind, text] of Object.entries({
        'oversized headers': `GET /tools HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
        'not HTTP': 'hello there\r\n\r\n',
        'a bad length': 'POST /admin/keys HTTP/1.1\r\nhost: x\r\ncontent-length: ten\r\n\r\n',
        'no address': 'GET http://[bad/tools HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
      })) {
        const answer = await raw(text)
        t.match(answer, /^HTTP\/1\.1 400 /, kind)
        t.same(Object.keys(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))), errorFields, kind)
      }
    })

    t.test('headers that say nothing to us change nothing', async (t) => {
      for (const header of ['host: x\r\nx: y', 'host: x\r\nexpect: something']) {
        const socket = connect(Number(new URL(gateway.base).port), '127.0.0.1')
        socket.end(`GET /tools HTTP/1.1\r\n${header}\r\nconnection: close\r\n\r\n`)
        let answer = ''
        for await (const part of socket) answer += part
        t.match(answer, /^HTTP\/1\.1 200 [^]*x-request-id: /i, header)
      }
    })

    t.test('a refusal for too many says what is left', async (t) => {
      const { credential } = await gateway.gateway.keys.create({ limits: { requestsPerSecond: 1 } })
      const ask = () => gateway.call('GET', '/tools', undefined, { authorization: `Bearer ${credential}` })
      const [, refused] = [await ask(), await ask()]
      t.equal(refused!.status, 429)
      t.match(Object.fromEntries(refused!.headers), {
        'x-ratelimit-limit-requests': '1',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1s',
        'retry-after': /^[12]$/,
      })
    })

    t.test('days that do not exist are refused', async (t) => {
      for (const path of [
        '/files/encrypted?from=2026-02-30',
        '/admin/usage?from=2026-02-30',
        '/admin/audit?to=2026-02-29',
      ])
        t.equal((await gateway.call('GET', path)).status, 400, path)
      t.equal((await gateway.call('GET', '/files/encrypted?from=2024-02-29T10:00:00Z')).status, 200)
    })

    t.test('describes itself', async (t) => {
      const described = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as any
      t.equal(described.openapi, '3.1.0')
      t.match(described.info, { version: '1.0.0' })
      t.same(Object.keys(described.components.securitySchemes).slice(0, 2), ['bearer', 'apiKey'])
      t.match(described.paths['/admin/keys'].post, { 'x-scope': 'api_key.create', requestBody: { required: true } })
      t.equal(described.paths['/admin/keys/{id}'].delete.parameters[0].name, 'id')
      t.same(described.paths['/tools'].get.security, [])
      const faultsOf = (path: string) =>
        Object.entries<any>(described.paths[path].post.responses)
          .filter(([status]) => Number(status) >= 400)
          .map(([status, { $ref }]) => {
            const { schema } = described.components.responses[$ref.split('/').at(-1)].content['application/json']
            return `${status} ${schema.$ref?.split('/').at(-1) ?? Object.keys(schema.properties).join()}`
          })
      const envelopes = (...statuses: number[]) => statuses.map((status) => `${status} Error`)
      t.same(faultsOf('/compat/v1/decision'), envelopes(400, 401, 403, 404, 429, 502, 503))
      t.same(
        faultsOf('/compat/v1/systemone'),
        [400, 401, 403, 404, 422, 429, 502, 503].map((status) => `${status} detail`),
      )
      const bare = 'status,error'
      const sealed = [...envelopes(400, 401, 403, 404), `413 ${bare}`, `429 ${bare}`, ...envelopes(502, 503)]
      for (const path of ['chat/completions', 'decision', 'embeddings', 'audio/translations'])
        t.same(faultsOf(`/rvenc/${path}`), sealed, path)
      const page = await fetch(`${gateway.base}/docs`)
      t.match(page.headers.get('content-type'), /text\/html/)
      t.match(await page.text(), /\/admin\/keys/)
      const metrics = await gateway.call('GET', '/metrics')
      t.match(await metrics.text(), /sealgate_request_seconds_count\{route="GET \/tools",status="200"\}/)
      t.equal((await fetch(`${gateway.base}/metrics`)).status, 401)
    })

    t.test('logs one line a request, without keys or bodies', async (t) => {
      const before = gateway.logged.length
      await gateway.call('POST', '/admin/keys', { name: 'Zx9canary' })
      await new Promise((resolve) => setTimeout(resolve, 50))
      const lines = gateway.logged.slice(before).filter(({ event }) => event === 'request')
      t.equal(lines.length, 1)
      t.match(lines[0]!.facts, { route: 'POST /admin/keys', status: 201, key: /^key_/, ms: Number })
      t.notMatch(JSON.stringify(gateway.logged), gateway.key)
      t.notMatch(JSON.stringify(gateway.logged), 'Zx9canary')
    })

    t.test('drains', async (t) => {
      t.equal((await fetch(`${gateway.base}/health/ready`)).status, 200)
      t.equal(await gateway.gateway.drain(1000), 0)
      const before = gateway.logged.length
      const answer = await fetch(`${gateway.base}/health/ready`)
      t.equal(answer.status, 503)
      t.match(await answer.json(), { status: 503, error: 'Draining', data: null })
      t.match(answer.headers.get('retry-after'), /^[12]$/)
      t.equal(answer.headers.get('connection'), 'close')
      t.equal((await fetch(`${gateway.base}/health/live`)).status, 200)
      t.notOk(
        gateway.logged.slice(before).some(({ event }) => event === 'fault'),
        'which is no fault',
      )
    })
  })
}

t.test('limits', async (t) => {
  const gateway = await running(t, memory(), { limits: { key: { requestsPerSecond: 3 } } })
  const answers = await Promise.all(Array.from({ length: 8 }, () => gateway.call('GET', '/admin/keys')))
  const refused = answers.filter(({ status }) => status === 429)
  t.equal(answers.filter(({ status }) => status === 200).length, 3)
  t.equal(refused.length, 5)
  t.ok(Number(refused[0]!.headers.get('retry-after')) >= 1)
  t.ok(Number(refused[0]!.headers.get('retry-after-ms')) > 0)
  t.match(answers[0]!.headers.get('x-ratelimit-limit-requests'), '3')
  const own = await gateway.gateway.keys.create({ limits: { requestsPerSecond: 1 } })
  const two = await Promise.all(
    [1, 2].map(() => gateway.call('GET', '/admin/keys', undefined, { authorization: `Bearer ${own.credential}` })),
  )
  t.same(two.map(({ status }) => status).sort(), [200, 429], 'a key may have limits of its own')
})

t.test('test keys stay in development', async (t) => {
  for (const [settings, status] of [
    [{}, 200],
    [{ env: 'production' }, 401],
    [{ env: 'production', testKeys: true }, 200],
  ] as const) {
    const gateway = await running(t, memory(), settings)
    const { credential } = await gateway.gateway.keys.create({ mode: 'test' })
    t.equal(
      (await gateway.call('GET', '/admin/keys', undefined, { authorization: `Bearer ${credential}` })).status,
      status,
    )
  }
})

t.test('a store that is down is a 503, never a 401', async (t) => {
  let down = false
  const adapters = memory()
  const flaky = given(MetadataStore, 'flaky', () => {
    const inner = adapters.metadataStore.make(() => ({}) as never)
    return {
      ...inner,
      get: async (kind, id) => {
        if (down) throw new Error('connection lost to db.internal with password hunter2')
        return inner.get(kind, id)
      },
    }
  })
  const gateway = await running(t, { ...adapters, metadataStore: flaky })
  const { credential } = await gateway.gateway.keys.create({})
  t.equal((await gateway.call('GET', '/metrics')).status, 200)
  down = true
  const answer = await gateway.call('GET', '/admin/keys', undefined, { authorization: `Bearer ${credential}` })
  t.equal(answer.status, 503)
  t.match(answer.headers.get('retry-after'), /^[12]$/)
  t.notMatch(await answer.text(), /hunter2|internal/)
  const faults = async () =>
    /sealgate_faults_total\{kind="Unavailable"\} (\d+)/.exec(await (await gateway.call('GET', '/metrics')).text())?.[1]
  t.equal(await faults(), '1')
  t.equal((await fetch(`${gateway.base}/health/ready`)).status, 503)
  const named = { headers: { authorization: `Bearer ${credential}` } }
  t.equal((await fetch(`${gateway.base}/health/ready`, named)).status, 503)
  t.equal((await fetch(`${gateway.base}/health/live`, named)).status, 200, 'no key is looked at')
  t.equal(await faults(), '1', 'a probe that is told so is none')
  t.notMatch(JSON.stringify(gateway.logged.map(({ facts }) => facts)), 'hunter2')
  down = false
  t.equal((await gateway.call('GET', '/admin/keys', undefined, { authorization: `Bearer ${credential}` })).status, 200)
})

t.test('surfaces can be left out, and trusted proxies speak for their clients', async (t) => {
  const gateway = await running(t, memory(), { surfaces: ['tools'], trustedProxies: ['127.0.0.1'] })
  t.equal((await gateway.call('GET', '/admin/keys')).status, 404)
  t.equal((await gateway.call('GET', '/tools')).status, 200)
  const { credential } = await gateway.gateway.keys.create({ addresses: ['203.0.113.7'] })
  const from = (forwarded: string) =>
    gateway.call('GET', '/tools', undefined, { authorization: `Bearer ${credential}`, 'x-forwarded-for': forwarded })
  t.equal((await from('203.0.113.7')).status, 200)
  t.equal((await from('203.0.113.7, 198.51.100.1')).status, 401, 'the last hop that is not trusted counts')
  t.equal((await from('198.51.100.1, 203.0.113.7')).status, 200)
})

t.test('an address is read in every spelling, and is unknown where it cannot be read', async (t) => {
  const gateway = await running(t, memory(), { trustedProxies: ['127.0.0.1', '10.0.0.0/8'] })
  const key = async (addresses: readonly string[] | null) =>
    (await gateway.gateway.keys.create({ addresses })).credential
  const [four, six, proxies, free] = [
    await key(['203.0.113.7']),
    await key(['2001:db8::7']),
    await key(['127.0.0.1', '10.0.0.0/8']),
    await key(null),
  ]
  const read: Readonly<Record<string, string>> = {
    '203.0.113.7': four,
    '203.0.113.7:4711': four,
    '[::ffff:203.0.113.7]:4711': four,
    '::ffff:203.0.113.7': four,
    '::FFFF:cb00:7107': four,
    '0:0:0:0:0:ffff:203.0.113.7': four,
    '0000:0000:0000:0000:0000:ffff:cb00:7107': four,
    'unknown, 203.0.113.7': four,
    '203.0.113.7, 10.1.2.3:80, [::ffff:10.1.2.4]': four,
    '2001:db8::7': six,
    '2001:0DB8:0::7': six,
    '[2001:db8::7]': six,
    '[2001:db8::7]:443': six,
    '10.1.2.3': proxies,
  }
  const unread = [
    ...['', 'unknown', '203.0.113.7,', '203.0.113.7, unknown', '203.0.113.7, ,10.0.0.1', '203.0.113.07', '203.0.113'],
    ...['203.0.113.7:', '203.0.113.7:x', '203.0.113.7:123456', '[203.0.113.7]', '[2001:db8::7', '2001:db8::7]'],
    ...['[2001:db8::7]443', '2001:db8::7%eth0', '"203.0.113.7"', '203.0.113.7 10.0.0.1', 'for=203.0.113.7', '127.1'],
  ]
  const status = async (credential: string, forwarded?: string) => {
    const forwarding = forwarded !== undefined && { 'x-forwarded-for': forwarded }
    return (await gateway.call('GET', '/tools', undefined, { authorization: `Bearer ${credential}`, ...forwarding }))
      .status
  }
  for (const [forwarded, bound] of Object.entries(read)) {
    for (const credential of [four, six, proxies])
      t.equal(await status(credential, forwarded), credential === bound ? 200 : 401, forwarded)
  }
  for (const forwarded of unread) {
    for (const credential of [four, six, proxies]) t.equal(await status(credential, forwarded), 401, `"${forwarded}"`)
    t.equal(await status(free, forwarded), 200, `"${forwarded}" keeps out no key without addresses`)
  }
  t.equal(await status(proxies), 200, 'a proxy that forwards nothing calls for itself')
})

t.test('readers', async (t) => {
  const stalled = 77_777
  const big = 16 * 1024 * 1024

  /** A clock whose time, as far as readers are waited for, goes on when it is told to. */
  const patient = () => {
    const waits = new Set<{ due: number; ring: () => void }>()
    let now = 0
    let begun = 0
    const alarm = (ms: number, ring: () => void): Alarm => {
      if (ms !== stalled) return system.clock.alarm(ms, ring)
      const alarm = { due: now + ms, ring }
      waits.add(alarm)
      begun++
      return { again: () => void (alarm.due = now + ms), off: () => void waits.delete(alarm) }
    }
    return {
      clock: { ...system.clock, alarm },
      begun: () => begun,
      pass(ms: number) {
        now += ms
        for (const wait of waits) if (wait.due <= now && waits.delete(wait)) wait.ring()
      },
    }
  }
  type Patient = ReturnType<typeof patient>

  const stage = async (t: Test) => {
    const time = patient()
    const gateway = await running(
      t,
      { ...memory(), clock: given(Clock, 'patient', () => time.clock) },
      {
        limits: { key: { requestsPerSecond: null, concurrentRequests: 1 } },
        timeouts: { stalled },
        models: { large: { owned_by: 'x'.repeat(big), upstreams: [{ provider: 'rehearsal' }] } },
      },
    )
    const headers = { authorization: `Bearer ${gateway.key}` }
    const body = formOf(new Uint8Array(1))
    body.set('encrypted_content', new Blob([new Uint8Array(big)]), 'sealed')
    const sent = await fetch(`${gateway.base}/files/encrypted/upload`, { method: 'POST', headers, body })
    const { id } = ((await sent.json()) as any).data
    let release = () => {}
    const events = createServer(async ({ url }, response) => {
      if (url === '/held') return void (release = () => response.end())
      const all = (async function* () {
        yield { data: 'x'.repeat(big) }
      })()
      await sendEvents(
        response,
        () => ({}),
        all,
        null,
        () => null,
        { clock: time.clock, heartbeat: 1000, stalled, ownChunks: true },
      )
    }).listen(0, '127.0.0.1')
    await once(events, 'listening')
    t.teardown(() => events.close())
    const served = { server: gateway.server, path: '/std/models' }
    return {
      gateway,
      time,
      events,
      release: () => release(),
      answers: {
        'a whole answer': served,
        'a file': { ...served, path: `/files/encrypted/${id}/content` },
        'one large event': { server: events, path: '/' },
      },
    }
  }

  /** Asks, and takes nothing yet. */
  const asked = async (
    t: Test,
    time: Patient,
    { server, path }: { server: Running['server']; path: string },
    key: string,
  ) => {
    const before = time.begun()
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    socket.pause().write(`GET ${path} HTTP/1.1\r\nhost: here\r\nauthorization: Bearer ${key}\r\n\r\n`)
    t.ok(await until(() => time.begun() > before), 'it is waited for')
    return socket
  }
  const connections = (server: Running['server']): Promise<number> =>
    new Promise((resolve) => server.getConnections((_, count) => resolve(count)))

  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = () => {
    collect()
    return process.memoryUsage().arrayBuffers
  }

  t.test('one that takes nothing is cut, and nothing is kept for it', async (t) => {
    const { gateway, time, answers } = await stage(t)
    for (const [name, answer] of Object.entries(answers)) {
      gateway.server.closeIdleConnections()
      t.ok(await until(async () => (await connections(answer.server)) === 0))
      const before = held()
      const reader = await asked(t, time, answer, gateway.key)
      const ours = answer.server === gateway.server
      if (ours) t.equal((await gateway.call('GET', '/admin/keys')).status, 429, `${name} has its place`)
      gateway.server.closeIdleConnections()
      t.ok(
        await until(async () => {
          time.pass(stalled)
          return (await connections(answer.server)) === 0
        }),
        `${name} is cut`,
      )
      if (ours)
        t.ok(await until(async () => (await gateway.call('GET', '/admin/keys')).status === 200), 'its place is free')
      t.ok(await until(() => held() < before + big / 4), 'and its memory')
      reader.destroy()
    }
    const cut = gateway.logged.filter(({ facts }) => facts['status'] === 499)
    t.same(
      cut.map(({ facts }) => facts['route']),
      ['GET /std/models', 'GET /files/encrypted/{id}/content'],
    )
    const told = await gateway.gateway.supply({ metrics: Metrics }).metrics.told()
    for (const { facts } of cut)
      t.match(told, `sealgate_request_seconds_count{route="${facts['route']}",status="499"} 1`)
    t.notMatch(gateway.logged, [{ event: 'fault' }])
  })

  t.test('one that is gone before the answer begins costs no reading', async (t) => {
    let read = 0
    const source = async function* () {
      while (read++ < 99) yield new Uint8Array(65_536)
    }
    let told = ''
    const server = createServer(async (req, res) => {
      await once(res, 'close')
      const ctx = { req, res, state: { headers: {} } } as unknown as Context
      const pace = { clock: system.clock, heartbeat: 1000, stalled, ownChunks: true }
      await render(
        ctx,
        bytes(source(), 'a/b', null),
        { env: 'development', id: '' },
        pace,
        () => {},
        () => ({}),
      ).then(
        () => (told = 'all'),
        (fault: Error) => (told = fault.name),
      )
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
    await once(server, 'request')
    socket.destroy()
    t.ok(await until(() => told !== ''))
    t.equal(told, 'Aborted')
    t.ok(read < 9, 'of what comes')
  })

  t.test('one that is slow gets it all', async (t) => {
    const { gateway, time, answers } = await stage(t)
    for (const [name, answer] of Object.entries(answers)) {
      const reader = await asked(t, time, answer, gateway.key)
      let took = 0
      let passed = 0
      for (let gone = false; took < big && !gone; passed += 0.9) {
        const before = time.begun()
        while (time.begun() === before && took < big && !gone) {
          took += (reader.read() as Buffer | null)?.length ?? 0
          gone = reader.closed
          await turn()
        }
        time.pass(0.9 * stalled)
      }
      t.ok(took >= big, name)
      t.ok(passed > 2, 'though it took longer than one may who takes nothing')
      reader.destroy()
    }
  })
})
