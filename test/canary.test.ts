import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { fetch as doors } from '../adapters/production/platform.ts'
import { writeLog } from '../adapters/production/log/log.ts'
import type { Fitting } from '../core/container.ts'
import { BadRequest } from '../core/errors.ts'
import { createGateway } from '../core/gateway.ts'
import { plugin, use } from '../core/plugin.ts'
import { BlobStore } from '../core/ports/blob-store.ts'
import { Log } from '../core/ports/platform.ts'
import { Guard } from '../core/ports/guard.ts'
import { kind, MetadataStore } from '../core/ports/metadata-store.ts'
import { type ChatBody, Upstream } from '../core/ports/upstream.ts'
import type { SettingsInput } from '../core/settings.ts'
import openai from '../plugins/providers/openai.ts'
import redact from '../plugins/guards/redact.ts'
import words from '../plugins/guards/words.ts'
import rehearsal from '../plugins/providers/rehearsal.ts'
import { environments } from './environments.ts'
import { backend, vector } from './contracts/stage.ts'
import { filesIn, type Places, traces } from './fakes/traces.ts'
import { deadUrl, startProvider } from '../adapters/drill/provider.ts'
import { opensHttp } from './fakes/listening.ts'
import { late, settingsFor } from './faults/drill.ts'
import { onWay } from './ways.ts'

const pace = 0.02

/** A quick machine sends more in a second, and asks for more tokens in a minute, than the usual allowance. */
const allowance = { requestsPerSecond: 10_000, tokensPerMinute: null }
const plenty = { key: allowance, organization: allowance, keyless: { requestsPerSecond: null } }

/** Marks by what they were put into. */
const marking = () => {
  const marks = new Map<string, string>()
  const mark = (place: string) => {
    const text = `zq${randomBytes(12).toString('hex')}`
    marks.set(text, place)
    return text
  }
  return { marks, mark }
}

/** A fitting whose calls are noted, arguments and all. */
const overheard = <T extends object>(fitting: Fitting<T>, note: (call: string) => void): Fitting<T> => ({
  ...fitting,
  make: (supply) =>
    new Proxy(fitting.make(supply), {
      get(mark, name) {
        const value: unknown = Reflect.get(mark, name)
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => {
          note(`${String(name)} ${JSON.stringify(given)}`)
          return value.apply(mark, given)
        }
      },
    }),
})

interface House {
  readonly base: string
  readonly key: string
  /** What came back to the caller and may hold no mark; `search` adds what lies on the disk. */
  readonly places: Places
  /** Sends it, and keeps the headers, and the body too unless it may echo. */
  call(name: string, path: string, sent: RequestInit & { readonly echo?: true }): Promise<number>
  /** Closes the gateway and gives all places that something could have been kept in. */
  close(): Promise<Places>
  limited(limits: object): Promise<string>
}

/** The embedded production environment on a disk, with its real log. */
const house = async (
  t: Test,
  upstreams: readonly Fitting<Upstream>[],
  settings: SettingsInput,
  guards: readonly Fitting<Guard>[] = [],
): Promise<House> => {
  const adapters = await environments['production']!(t)
  const folder = t.testdirName
  const destination = { write: (line: string) => appendFileSync(join(folder, 'sealgate.log'), line) }
  const log = plugin({ port: Log, name: 'file', create: () => writeLog('info', destination) })
  const heard: string[] = []
  const note = (call: string) => void heard.push(call)
  const gateway = createGateway(
    {
      ...adapters,
      fetch: use(doors),
      log: use(log),
      cache: overheard(adapters.cache, note),
      rateLimiter: overheard(adapters.rateLimiter, note),
      upstreams,
      guards,
    },
    onWay(settings),
  )
  const base = await opensHttp(t, gateway.server())
  const { credential: key } = await gateway.keys.create({})
  const places: Places = new Map()
  let calls = 0
  const call: House['call'] = async (name, path, { echo, ...sent }) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...sent.headers }
    if (sent.body instanceof FormData) delete (headers as Record<string, string>)['content-type']
    const answer = await fetch(base + path, { method: 'POST', ...sent, headers })
    const text = await answer.text()
    const told = `${JSON.stringify([...answer.headers])}\n${echo ? '' : text}`
    places.set(`answer ${++calls}: ${name}`, Buffer.from(told))
    return answer.status
  }
  return {
    base,
    key,
    places,
    call,
    limited: async (limits) => `Bearer ${(await gateway.keys.create({ limits })).credential}`,
    async close() {
      for (const path of ['/metrics', '/admin/usage?limit=100', '/admin/keys?limit=100', '/std/models']) {
        t.equal(await call(path, path, { method: 'GET' }), 200)
      }
      await gateway.drain(5000)
      await gateway.close()
      places.set('cache and limits', Buffer.from(heard.join('\n')))
      return new Map([...places, ...(await filesIn(folder))])
    },
  }
}

const chatOf = (mark: (place: string) => string, model: string, stream: boolean) => ({
  model,
  stream,
  user: mark('user'),
  messages: [
    { role: 'system', content: mark('system') },
    {
      role: 'assistant',
      content: mark('earlier answer'),
      tool_calls: [
        {
          id: 'c',
          type: 'function',
          function: { name: mark('tool name'), arguments: JSON.stringify({ a: mark('tool arguments') }) },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'c', content: mark('tool answer') },
    {
      role: 'user',
      content: [
        { type: 'text', text: mark('prompt') },
        { type: 'image_url', image_url: { url: `https://${mark('image URL')}.example/a.png` } },
      ],
    },
  ],
  tools: [{ type: 'function', function: { name: 'f', description: mark('tool description') } }],
  metadata: { a: mark('metadata') },
  [mark('field name')]: mark('field value'),
})

const chats = '/std/chat/completions'
const json = { 'content-type': 'application/json' }

/** Success of every route, from recorded answers. */
const vendor = (t: Test) =>
  backend(t, async ({ path, body }) => {
    if (path.endsWith('/speech')) return { headers: { 'content-type': 'audio/mpeg' }, body: Uint8Array.of(255, 243) }
    const file = {
      '/v1/audio/transcriptions': 'transcription',
      '/v1/images/generations': 'images',
      '/v1/embeddings': 'embeddings',
    }[path]
    if (file !== undefined) return { headers: json, body: await vector(`openai/${file}.json`) }
    const streams = /"stream":true/.test(body.toString())
    return {
      headers: streams ? { 'content-type': 'text/event-stream' } : json,
      body: await vector(`openai/chat.${streams ? 'sse' : 'json'}`),
    }
  })

t.test('nothing that a caller wrote is kept anywhere', async (t) => {
  const { marks, mark } = marking()
  const provider = await startProvider({ pace, late })
  t.teardown(() => provider.close())
  const good = await vendor(t)
  const { models, timeouts } = settingsFor(pace)
  const media = ['EMBEDDING', 'IMAGE', 'AUDIO_SPEECH', 'AUDIO_TRANSCRIPTION'] as const
  const gateway = await house(
    t,
    [
      use(openai, { baseUrl: provider.url, continuation: { continue_final_message: true } }, 'faulty'),
      use(openai, { baseUrl: await deadUrl() }, 'dead'),
      use(openai, { baseUrl: `${good.url}/v1` }, 'good'),
      use(rehearsal),
    ],
    {
      models: {
        ...models,
        good: { decide: true, upstreams: [{ provider: 'good' }] },
        rehearsal: { decide: true, upstreams: [{ provider: 'rehearsal' }] },
        sealed: { standard: false, confidential: true, upstreams: [{ provider: 'good' }] },
        ...Object.fromEntries(
          media.flatMap((type) =>
            ['good', 'faulty', 'dead'].map((name) => [`${type}-${name}`, { type, upstreams: [{ provider: name }] }]),
          ),
        ),
      },
      timeouts: { ...timeouts, total: 3000 },
      routing: { breaker: { faults: 1000, ratio: 1 } },
      bodies: { chat: 100_000, audio: 100_000 },
      limits: plenty,
    },
  )
  const statuses = new Map<number, number>()
  const say = async (name: string, path: string, body: unknown, more: object = {}) => {
    const sent = body instanceof FormData || typeof body === 'string' ? body : JSON.stringify(body)
    const status = await gateway.call(name, path, { body: sent, ...more })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    return status
  }

  const scenes = ['S01', 'S02', 'S03', 'S04', 'S05', 'S12', 'S13', 'S15']
  const streams = ['S01', 'S03', 'S04', 'S05', 'S06', 'S07', 'S08', 'S09', 'S10', 'S11', 'S13', 'S14', 'S16', 'good']
  await Promise.all([
    ...scenes.map((scene) => say(scene, chats, chatOf(mark, scene, false))),
    ...streams.map((scene) => say(`${scene} as a stream`, chats, chatOf(mark, scene, true))),
    say('an echo', chats, chatOf(mark, 'rehearsal', false), { echo: true }),
    say('an echo as a stream', chats, chatOf(mark, 'rehearsal', true), { echo: true }),
  ])

  await Promise.all(
    ['C01', 'C02', 'C03', 'C05'].map(async (scene) => {
      const headers = { authorization: `Bearer ${gateway.key}`, ...json }
      const leaving = request(gateway.base + chats, { method: 'POST', headers, agent: false }).on('error', () => {})
      leaving.on('response', (answer) =>
        answer.on('error', () => {}).on('data', () => scene === 'C03' && answer.pause()),
      )
      leaving.end(JSON.stringify(chatOf(mark, scene, scene !== 'C05')))
      await sleep(300)
      leaving.destroy()
    }),
  )

  const good2 = () => chatOf(mark, 'good', false)
  const refused: Record<string, readonly [status: number, path: string, body: unknown, more?: object]> = {
    'an unknown model': [404, chats, { ...good2(), model: mark('unknown model') }],
    'an unknown provider': [400, chats, { ...good2(), provider: mark('provider') }],
    'a provider out of pattern': [400, chats, { ...good2(), provider: `${mark('provider')}!` }],
    'a role that is none': [400, chats, { ...good2(), messages: [{ role: mark('role'), content: mark('prompt') }] }],
    'a field of a wrong kind': [400, chats, { ...good2(), stream: mark('stream') }],
    'malformed JSON': [400, chats, `{"model":"good","messages":[{"role":"user","content":"${mark('malformed JSON')}"`],
    'JSON behind JSON': [400, chats, `${JSON.stringify(good2())}${mark('malformed JSON')}`],
    'a list': [400, chats, `["${mark('list')}"]`],
    'too many bytes': [400, chats, JSON.stringify({ ...good2(), padding: 'x'.repeat(200_000) })],
    'a sealed model': [400, chats, { ...good2(), model: 'sealed' }],
    'an encoded body': [400, chats, good2(), { headers: { 'content-encoding': mark('content-encoding') } }],
    'an unknown key': [401, chats, good2(), { headers: { authorization: `Bearer ${mark('key')}` } }],
    'an unknown path': [404, `/std/v1/${mark('path')}`, good2()],
    'an unknown tool': [
      404,
      `/tools/${mark('tool id')}`,
      { cipherText: mark('cipherText'), encryptedParams: '00', nonce: '00' },
    ],
    'an unknown key id': [404, `/admin/keys/${mark('key id')}`, undefined, { method: 'DELETE' }],
    'a wrong query': [400, `/std/models?type=${mark('query')}`, undefined, { method: 'GET' }],
    'odd headers': [
      200,
      chats,
      good2(),
      { headers: { 'x-request-id': mark('request id'), 'user-agent': mark('user agent'), traceparent: mark('trace') } },
    ],
    'a sealed chat that is none': [
      400,
      '/rvenc/chat/completions',
      { encryptedInference: mark('sealed'), cipherText: mark('sealed'), nonce: mark('sealed') },
    ],
    'too many requests': [
      429,
      chats,
      good2(),
      { headers: { authorization: await gateway.limited({ tokensPerMinute: 10 }) } },
    ],
  }
  for (const [name, [status, path, body, more]] of Object.entries(refused)) {
    t.equal(await say(name, path, body, more), status, name)
  }

  const form = (model: string) => {
    const form = new FormData()
    const file = new Blob([`RIFF${mark('file content')}`], { type: 'audio/wav' })
    form.set('model', model)
    form.set('prompt', mark('transcription prompt'))
    form.set(mark('form field'), mark('form value'))
    form.set('file', file, `${mark('file name')}.wav`)
    return form
  }
  for (const [name, status] of [
    ['good', 200],
    ['faulty', 503],
    ['dead', 503],
  ] as const) {
    t.equal(
      await say(`transcription by ${name}`, '/std/audio/transcriptions', form(`AUDIO_TRANSCRIPTION-${name}`)),
      status,
    )
    t.equal(
      await say(`speech by ${name}`, '/std/audio/speech', {
        model: `AUDIO_SPEECH-${name}`,
        input: mark('speech'),
        voice: mark('voice'),
      }),
      status,
    )
    t.equal(
      await say(`image by ${name}`, '/std/images/generations', {
        model: `IMAGE-${name}`,
        prompt: mark('drawing'),
        user: mark('user'),
      }),
      status,
    )
    t.equal(
      await say(`embedding by ${name}`, '/std/embeddings', {
        model: `EMBEDDING-${name}`,
        input: [mark('embedding'), mark('embedding')],
        user: mark('user'),
      }),
      status,
    )
  }
  const wrong = form('AUDIO_TRANSCRIPTION-good')
  wrong.set('response_format', mark('format'))
  wrong.set('language', mark('language'))
  t.equal(await say('a wrong form', '/std/audio/transcriptions', wrong), 400)
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  t.equal(
    await say(
      'half of a form',
      '/std/audio/transcriptions',
      `--x\r\ncontent-disposition: form-data; name="${mark('half form')}`,
      { headers },
    ),
    400,
  )

  const decision = (model: string, more: object = {}) => {
    const criteria = { [mark('label')]: mark('criteria'), other: null }
    return {
      model,
      state: { a: mark('state') },
      questions: { [mark('question id')]: { type: 'choice', instructions: mark('instructions'), criteria } },
      ...more,
    }
  }
  for (const model of ['good', 'rehearsal', 'S03'])
    await say(`decision by ${model}`, '/compat/v1/decision', decision(model), { echo: true })
  t.equal(
    await say(
      'a decision of two kinds',
      '/compat/v1/decision',
      decision('good', { images: [mark('image')], videos: [mark('video')] }),
    ),
    400,
  )
  t.equal(await say('a decision of a drawer', '/compat/v1/decision', decision('IMAGE-good')), 400)

  const places = await gateway.close()
  t.same(
    traces(marks.keys(), places).map((trace) => trace.replace(/^\w+/, (match) => marks.get(match)!)),
    [],
  )
  const theirs = ['secret words of the backend', new URL(provider.url).host, new URL(good.url).host]
  t.same(traces(theirs, places), [], 'nor what the backends said, nor where they are')

  t.ok(marks.size > 500, `${marks.size} marks`)
  for (const status of [200, 400, 401, 404, 429, 503]) t.ok((statuses.get(status) ?? 0) > 0, `an answer with ${status}`)
  const lines = places.get('sealgate.log')!.toString().trim().split('\n')
  t.ok(lines.filter((line) => line.includes('"request"')).length >= 60, 'the log was written')
  t.ok(lines.filter((line) => line.includes('"fault"')).length >= 10, 'and tells of faults')
  const kept = Buffer.concat([...places].filter(([name]) => name.startsWith('sealgate.db')).map(([, bytes]) => bytes))
  t.match(kept.toString('latin1'), /"model":"good"/, 'the database was written')
  t.match(places.get('cache and limits')!.toString(), /tokens\/minute/)
})

t.test('words that guards put back are kept nowhere', async (t) => {
  const { marks, mark } = marking()
  const seen: string[] = []
  const models = { echo: { upstreams: [{ provider: 'rehearsal' }] } }
  const heard = plugin({
    port: Guard,
    name: 'heard',
    create: (): Guard => ({
      ...{ name: 'heard', marks: [] },
      begin: () => ({
        async request(texts) {
          seen.push(...texts.map(({ text }) => text))
          return { texts: texts.map(({ text }) => text) }
        },
      }),
    }),
  })
  const names = [mark('name'), mark('other name')]
  const lists = { names: { words: names, then: 'replace' as const } }
  const guards = [use(redact, { restore: true }), use(words, { lists, restore: true }), use(heard)]
  const gateway = await house(t, [use(rehearsal)], { models, limits: plenty }, guards)
  const doors: Readonly<Record<string, object>> = {
    '/v1/chat/completions': { messages: [{ role: 'user', content: '' }] },
    '/v1/messages': { max_tokens: 100, messages: [{ role: 'user', content: '' }] },
    '/v1/responses': { input: '' },
  }
  for (const [path, body] of Object.entries(doors))
    for (const stream of [false, true]) {
      const content = `${mark('address')}@example.org and ${names.join(' or ')}`
      const sent = JSON.stringify({ model: 'echo', stream, ...body }).replace(/(content|input)":""/, `$1":"${content}"`)
      t.equal(await gateway.call(path, path, { body: sent, echo: true }), 200, path)
    }
  const places = await gateway.close()
  t.same(traces(marks.keys(), places), [])
  t.ok(seen.length >= 6)
  for (const text of seen) t.match(text, /\[EMAIL_1\] and \[NAMES_1\] or \[NAMES_2\]/)
})

t.test('the search is sharp', async (t) => {
  const { marks, mark } = marking()
  const leaked = kind<{ readonly text: string }>('leaked')
  const stored = async function* (bytes: Buffer) {
    yield bytes
  }
  type Given = { readonly log: Log; readonly rows: MetadataStore; readonly blobs: BlobStore }
  const leaks: Record<string, readonly [where: RegExp, leak: (given: Given, text: string) => unknown]> = {
    logs: [/ in sealgate\.log as plain$/, ({ log }, text) => log.info('asked', { text })],
    shouts: [/ in sealgate\.log as plain$/, ({ log }, text) => log.warn('asked', { text: text.toUpperCase() })],
    stores: [
      / in sealgate\.db\S* as plain$/,
      ({ rows }, text) => rows.create(leaked, 'plain', { text: `so: ${text}` }),
    ],
    hexes: [
      / in sealgate\.db\S* as hex$/,
      ({ rows }, text) => rows.create(leaked, 'hex', { text: Buffer.from(text).toString('hex') }),
    ],
    ...Object.fromEntries(
      ['', 'x', 'xx'].map((before, at) => [
        `encodes${at}`,
        [
          new RegExp(` in sealgate\\.db\\S* as base64 at ${at}$`),
          ({ rows }: Given, text: string) =>
            rows.create(leaked, `base64 ${at}`, { text: Buffer.from(`${before}${text}yyy`).toString('base64') }),
        ] as const,
      ]),
    ),
    escapes: [
      / in sealgate\.log as URL-encoded$/,
      ({ log }, text) =>
        log.info('asked', { text: Buffer.from(text).toString('hex').toUpperCase().replace(/../g, '%$&') }),
    ],
    widens: [
      / in blobs\S* as UTF-16$/,
      ({ blobs }, text) => blobs.put('leak/wide', stored(Buffer.from(text, 'utf16le'))),
    ],
    packs: [/ in blobs\S* unpacked as plain$/, ({ blobs }, text) => blobs.put('leak/packed', stored(gzipSync(text)))],
    names: [/ in file names as plain$/, ({ blobs }, text) => blobs.put(`leak/${text}`, stored(Buffer.of(1)))],
    quotes: [
      / in answer \d+: quotes as plain$/,
      (_, text) => {
        throw new BadRequest(text)
      },
    ],
    caches: [/ in rotated\.log\.gz unpacked as plain$/, ({ log }, text) => log.info('rotated', { text })],
  }
  const textOf = ({ messages }: ChatBody) => String(messages.at(-1)!.content)
  const leaky = plugin({
    port: Upstream,
    name: 'leaky',
    needs: { log: Log, rows: MetadataStore, blobs: BlobStore },
    create: (given): Upstream => ({
      name: 'leaky',
      models: async () => [],
      async chat({ model, body }) {
        await leaks[model]![1](given, textOf(body))
        const choices = [{ index: 0, message: { role: 'assistant', content: 'Done' }, finish_reason: 'stop' }]
        return { kind: 'completion', completion: { id: '1', object: 'chat.completion', created: 1, model, choices } }
      },
    }),
  })
  const names = Object.keys(leaks)
  const models = Object.fromEntries(
    ['clean', ...names].map((name) => [name, { upstreams: [{ provider: name === 'clean' ? 'rehearsal' : 'leaky' }] }]),
  )
  const gateway = await house(t, [use(leaky), use(rehearsal)], { models, limits: plenty })
  for (const name of names) {
    const body = JSON.stringify({ model: name, messages: [{ role: 'user', content: mark(name) }] })
    t.equal(await gateway.call(name, chats, { body }), name === 'quotes' ? 400 : 200, name)
  }
  const clean = JSON.stringify({ model: 'clean', messages: [{ role: 'user', content: mark('clean') }] })
  t.equal(await gateway.call('clean', chats, { body: clean, echo: true }), 200)
  await gateway.close()
  const log = join(t.testdirName, 'sealgate.log')
  await writeFile(join(t.testdirName, 'rotated.log.gz'), gzipSync(await readFile(log)))
  const found = traces(marks.keys(), new Map([...gateway.places, ...(await filesIn(t.testdirName))]))
  for (const [text, name] of marks) {
    const own = found.filter((trace) => trace.startsWith(text))
    if (name === 'clean') t.same(own, [], 'what is not leaked is not found')
    else
      t.ok(
        own.some((trace) => leaks[name]![0].test(trace)),
        `${name}: ${own.join(', ') || 'unseen'}`,
      )
  }
})
