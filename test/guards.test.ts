import './fakes/unwatched.ts'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI, type GenerateContentResponse } from '@google/genai'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { plugin, use } from '../core/plugin.ts'
import { Guard } from '../core/ports/guard.ts'
import { type Chunk, Upstream } from '../core/ports/upstream.ts'
import redact from '../plugins/guards/redact.ts'
import words from '../plugins/guards/words.ts'
import { running } from './environments.ts'
import { actor, chunk, say, stop, usage, type Step } from './fakes/backends.ts'
import { behind, eventsOf, opened, type Behind, type Doors } from './fakes/doors.ts'
import { sealing } from './fakes/proxied.ts'
import { scripted } from './fakes/scripted.ts'
import { sealedDoors } from './fakes/sealed-doors.ts'
import { withoutIds } from './fakes/without-ids.ts'
import { bookingGuard } from './plugins/guards/booking-guard.ts'

const asked = 'I am ann@example.org of Blue Heron, pay 4111 1111 1111 1111.'
const told = 'Paid by ann@example.org (Blue Heron): 4111 1111 1111 1111.'
/** Values and words that a caller alone may see. */
const own = /ann@|4111|heron/i

interface Reached {
  readonly base: string
  readonly key: string
}

interface Heard {
  readonly text: string
  readonly args: unknown
}

/** A client of one door that asks once, with a tool on offer. */
type Client = (gateway: Reached, model: Behind, stream: boolean) => Promise<Heard>

const schema = { type: 'object' as const, properties: { to: { type: 'string' } } }

const clients: Readonly<Record<string, Client>> = {
  async 'chat completions'(gateway, model, stream) {
    const client = new OpenAI({ baseURL: `${gateway.base}/v1`, apiKey: gateway.key, maxRetries: 0 })
    const tools = [{ type: 'function' as const, function: { name: 'pay', parameters: schema } }]
    const params = { model, tools, messages: [{ role: 'user' as const, content: asked }] }
    const { choices } = stream
      ? await client.chat.completions.stream(params).finalChatCompletion()
      : await client.chat.completions.create(params)
    const { content, tool_calls } = choices[0]!.message
    const call = tool_calls![0]!
    return { text: content!, args: call.type === 'function' ? JSON.parse(call.function.arguments) : null }
  },
  async responses(gateway, model, stream) {
    const client = new OpenAI({ baseURL: `${gateway.base}/v1`, apiKey: gateway.key, maxRetries: 0 })
    const tools = [{ type: 'function' as const, name: 'pay', parameters: schema, strict: false }]
    const params = { model, input: asked, tools, store: false }
    const response = stream
      ? await client.responses.stream(params).finalResponse()
      : await client.responses.create(params)
    const call = response.output.find((item) => item.type === 'function_call')
    return { text: response.output_text, args: call?.type === 'function_call' ? JSON.parse(call.arguments) : null }
  },
  async messages(gateway, model, stream) {
    const client = new Anthropic({ baseURL: gateway.base, apiKey: gateway.key, maxRetries: 0 })
    const tools = [{ name: 'pay', input_schema: schema }]
    const params = { model, tools, max_tokens: 100, messages: [{ role: 'user' as const, content: asked }] }
    const { content } = stream
      ? await client.messages.stream(params).finalMessage()
      : await client.messages.create(params)
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    const call = content.find((block) => block.type === 'tool_use')
    return { text, args: call?.type === 'tool_use' ? call.input : null }
  },
  async gemini(gateway, model, stream) {
    const google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.base } })
    const declared = { name: 'pay', parametersJsonSchema: schema }
    const params = { model, contents: asked, config: { tools: [{ functionDeclarations: [declared] }] } }
    const answers: GenerateContentResponse[] = []
    if (stream) for await (const piece of await google.models.generateContentStream(params)) answers.push(piece)
    else answers.push(await google.models.generateContent(params))
    const parts = answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
    return {
      text: parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join(''),
      args: parts.find((part) => part.functionCall)?.functionCall?.args,
    }
  },
}

/** Placeholders of both guards, each cut by the end of a piece. */
const answered = 'Paid by [EMAIL_1] ([PROJECTS_1]): [CARD_1].'
const given = { to: '[EMAIL_1]', note: 'a\n[CARD_1]\\ "q" [PROJECTS_1]' }
const play = scripted(() => [{ say: answered }, { call: 'pay', args: given }])
const { guard: booking, booked } = bookingGuard()
const hiding = () => [
  booking,
  use(redact, { restore: true }),
  use(words, { lists: { projects: { words: ['Blue Heron'], then: 'replace' } }, restore: true }),
]

/** A gateway whose guards hide and restore, by its doors. */
const planes: Readonly<Record<string, (t: Test) => Promise<Reached & Pick<Doors, 'backend' | 'logged'>>>> = {
  clear: (t) => opened(t, play, { converse: 'converse' }, {}, hiding()),
  async sealed(t) {
    const names = Object.fromEntries(behind.map((name) => [name, name]))
    const doors = await sealedDoors(t, play, names, {}, hiding())
    const proxy = await sealing(t, ['--base-url', doors.base, '--allow-insecure-dev'], { SEALGATE_KEY: doors.key })
    return { ...doors, base: proxy.url.replace(/\/v1$/, ''), key: 'x' }
  },
}

for (const [plane, open] of Object.entries(planes))
  t.test(`${plane}: words are hidden from every backend, and come back through every door`, async (t) => {
    const json = JSON.stringify(given)
    for (const text of [answered, json]) t.match(text.slice(0, Math.ceil(text.length / 2)), /\[[A-Z]*_?\d?$/)
    const scene = await open(t)
    for (const [name, client] of Object.entries(clients)) {
      for (const model of behind) {
        for (const stream of [false, true]) {
          const { text, args } = await client(scene, model, stream)
          const where = `${name} before ${model}, ${stream ? 'streamed' : 'whole'}`
          t.equal(text, told, where)
          t.same(args, { to: 'ann@example.org', note: 'a\n4111 1111 1111 1111\\ "q" Blue Heron' }, where)
          const sent = scene.backend.asked.at(-1)!.body.toString()
          t.notMatch(sent, own, where)
          t.match(sent, /I am \[EMAIL_1\] of \[PROJECTS_1\], pay \[CARD_1\]\./, where)
        }
      }
    }
    t.notMatch(withoutIds(scene.logged), own)
  })

t.test('what guards do is booked to the caller, on every way of every door', (t) => {
  t.equal(booked.free, 0)
  // Chats of four clients at five backends, whole and streamed, in the clear and sealed.
  t.ok(booked.paid >= 80, `${booked.paid} chats`)
  t.end()
})

/** A gateway before a backend that plays these steps. */
const guarded = async (
  t: Test,
  guards: readonly ReturnType<typeof use<Guard, {}, any>>[],
  ...steps: readonly Step[]
) => {
  const backend = actor('a', steps)
  const upstreams = [use(plugin({ port: Upstream, name: 'a', create: () => backend }))]
  const settings = { models: { small: { upstreams: [{ provider: 'a' }] } } }
  const gateway = await running(t, { ...memory(), upstreams, guards }, settings)
  const ask = (content: string, more: object = {}, path = '/std/chat/completions') =>
    gateway.call('POST', path, { model: 'small', max_tokens: 9, messages: [{ role: 'user', content }], ...more })
  return { ...gateway, backend, ask }
}

const list = (then: 'refuse' | 'replace' | 'mark', where: 'requests' | 'answers' | 'both' = 'both') =>
  use(words, { lists: { projects: { words: ['Blue Heron'], then, where } } })

t.test('a refused request costs nothing, and is told in each dialect', async (t) => {
  const scene = await guarded(t, [list('refuse')], say('fine'), stop)
  for (const path of ['/std/chat/completions', '/v1/chat/completions', '/v1/messages']) {
    const refused = await scene.ask('What is the blue heron?', {}, path)
    t.equal(refused.status, 400, path)
    t.equal(refused.headers.get('x-should-retry'), 'false')
    const text = await refused.text()
    t.match(text, /guard_refused/, path)
    t.match(text, /A guard refuses the request/, path)
    t.notMatch(text, /heron/i, path)
  }
  const tools = [{ type: 'function', function: { name: 'x', description: 'Of the blue heron', parameters: {} } }]
  t.equal((await scene.ask('hello', { tools })).status, 400, 'a description is a text')
  const call = { id: 'c', type: 'function', function: { name: 'x', arguments: '{"it":"blue her\\u006fn"}' } }
  const messages = [{ role: 'assistant', content: null, tool_calls: [call] }]
  t.equal((await scene.ask('', { messages })).status, 400, 'arguments are read as JSON')
  t.equal(scene.backend.calls.length, 0)
  t.equal((await scene.ask('hello')).status, 200)
  t.notMatch(JSON.stringify(scene.logged), /heron/i)
})

t.test('a refused answer ends the call, and was used', async (t) => {
  const scene = await guarded(t, [list('refuse', 'answers')], say('The blue'), say(' heron'), stop, usage(400, 100))
  const whole = await scene.ask('hello')
  t.equal(whole.status, 400)
  const text = await whole.text()
  t.match(text, /A guard refuses the answer/)
  t.notMatch(text, /heron/i)
  const events = await (await scene.ask('hello', { stream: true })).text()
  t.match(events, /The/)
  t.match(events, /guard_refused/)
  t.notMatch(events, /heron|DONE/i)
  await scene.gateway.close()
})

t.test('what a refused answer used is settled', async (t) => {
  const scene = await guarded(t, [list('refuse', 'answers')], say('The blue heron'), stop, usage(400, 100))
  t.equal((await scene.ask('hello')).status, 400)
  t.match(await (await scene.call('GET', '/metrics')).text(), /^sealgate_tokens_total\{[^}]*kind="output"\} 100$/m)
})

t.test('a guard marks, and the caller learns it', async (t) => {
  const scene = await guarded(t, [list('mark'), use(redact)], say('The blue heron.'), stop)
  const whole = await scene.ask('I am ann@example.org')
  t.equal(whole.headers.get('x-sealgate-guards'), 'redact/email, words/projects')
  t.match(await whole.text(), /blue heron/)
  const streamed = await scene.ask('blue heron', { stream: true })
  t.equal(streamed.headers.get('x-sealgate-guards'), 'words/projects')
  await streamed.text()
})

t.test('pieces wait only for a guard that needs more', async (t) => {
  const first = async (guards: Parameters<typeof guarded>[1], content: string, ...steps: readonly Step[]) => {
    const scene = await guarded(t, guards, ...steps, 'silence')
    const { body } = await scene.ask(content, { stream: true })
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('"content":')) text += (await reader.read()).value
    await reader.cancel()
    return text
  }
  t.match(await first([use(redact, { restore: true })], 'nothing to hide', say('[EMAIL_1')), /\[EMAIL_1/)
  t.match(await first([use(redact, { restore: true })], 'ann@example.org', say('Hi [')), /"Hi "/)
  t.match(await first([list('replace', 'requests')], 'x', say('Blue')), /"Blue"/)
  t.match(await first([list('replace')], 'x', say('See Blue')), /"See "/)
  t.match(await first([list('replace')], 'x', say('The sky is'), say(' Blue')), /"The sky is"/)
})

t.test('what is held back comes before another text, a finish reason and the end', async (t) => {
  const part = (json: string, more: object = {}) =>
    chunk({ tool_calls: [{ index: 0, ...more, function: { ...more, arguments: json } }] })
  const odds = { delta: { content: 'See bl' }, index: 0, finish_reason: null, logprobs: { content: ['bl'] } }
  const steps = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'So blue' }),
    { ...say(''), choices: [odds] },
    say('ue'),
    part('{"a":"blue\\nher', { id: 'c', name: 'x' }),
    part('on"}'),
    say('Bl'),
    chunk({ content: 'ue' }, 'stop'),
    usage(4, 1),
  ]
  const scene = await guarded(t, [list('replace')], ...steps)
  const text = await (await scene.ask('x', { stream: true })).text()
  const choices = eventsOf(text.replace('data: [DONE]', '')).flatMap(({ choices }) => choices)
  const told = choices.map(
    ({ delta: { reasoning_content: thought, content, tool_calls: calls }, finish_reason: end }) =>
      thought
        ? `thinks ${thought}`
        : calls
          ? `calls ${calls[0].function.arguments}`
          : `${content}${end ? ' and ends' : ''}`,
  )
  t.same(told, ['', 'thinks So ', 'thinks blue', 'See ', 'blue', 'calls ', 'calls {"a":"***"}', 'Blue and ends'])
  t.notMatch(text, /"logprobs":\{/, 'log-probabilities spell the text')
})

/** A text that grows in a stream, by where it stands: a piece as a delta, and the piece in a delta. */
const places: Readonly<Record<string, readonly [put: (piece: string) => object, read: (delta: any) => string]>> = {
  content: [(content) => ({ content }), ({ content }) => content],
  arguments: [
    (json) => ({ tool_calls: [{ index: 0, function: { arguments: json } }] }),
    ({ tool_calls: calls }) => calls?.[0]?.function?.arguments,
  ],
  'the arguments of an old call': [
    (json) => ({ function_call: { arguments: json } }),
    ({ function_call: call }) => call?.arguments,
  ],
  'the input of a custom tool': [
    (input) => ({ tool_calls: [{ index: 0, custom: { input } }] }),
    ({ tool_calls: calls }) => calls?.[0]?.custom?.input,
  ],
  'a transcript': [(transcript) => ({ audio: { transcript } }), ({ audio }) => audio?.transcript],
  'a detail of thoughts': [
    (text) => ({ reasoning_details: [{ type: 'reasoning.text', index: 0, text }] }),
    ({ reasoning_details: details }) => details?.[0].text,
  ],
}

t.test('a guard watches a text across pieces that tell nothing', async (t) => {
  const silent = [{}, { content: '' }, { role: 'assistant', content: null }, { content: '', tool_calls: [] }]
  for (const [name, [put, read]] of Object.entries(places))
    for (const empty of [...silent, put(''), ...(name === 'a transcript' ? [{ audio: { data: 'AAAA' } }] : [])]) {
      const steps = [put('{"a":"the blue he'), empty, put('ron"} blue')].map((delta) =>
        chunk(delta as Chunk['choices'][number]['delta']),
      )
      const scene = await guarded(t, [list('replace')], ...steps, stop)
      const events = eventsOf((await (await scene.ask('x', { stream: true })).text()).replace('data: [DONE]', ''))
      const pieces = events.flatMap(({ choices }) => choices.map(({ delta }: any) => read(delta) ?? ''))
      t.equal(pieces.join(''), '{"a":"the ***"} blue', `${name}, ${JSON.stringify(empty)}`)
    }
})

t.test('a guard watches the arguments of calls whose pieces come in turns', async (t) => {
  const piece = (index: number, json: string, more: object = {}) =>
    chunk({ tool_calls: [{ index, ...more, function: { ...more, arguments: json } }] })
  const steps = [
    piece(0, '{"a":"the blue he', { id: 'c', name: 'x' }),
    piece(1, '{"b":"bl', { id: 'd', name: 'x' }),
    piece(0, 'ron"}'),
    piece(1, 'ue"}'),
    piece(2, '{"c":1}', { id: 'e', name: 'x' }),
    say('and the blue'),
    stop,
  ]
  const scene = await guarded(t, [list('replace')], ...steps)
  const events = eventsOf((await (await scene.ask('x', { stream: true })).text()).replace('data: [DONE]', ''))
  const joined = ['', '', '']
  for (const { delta } of events.flatMap(({ choices }) => choices))
    for (const { index, function: call } of delta.tool_calls ?? []) joined[index] += call.arguments
  t.same(joined, ['{"a":"the ***"}', '{"b":"blue"}', '{"c":1}'])
})

t.test('a custom tool call passes the guards, and reaches clients of Responses as it is', async (t) => {
  const part = (custom: object, more: object = {}) => chunk({ tool_calls: [Object.assign({ index: 0, custom }, more)] })
  const head = part({ name: 'patch', input: '' }, { id: 'c', type: 'custom' })
  const steps = [head, part({ input: '{"input":"blue he' }), part({ input: 'ron"}' }), stop]
  const scene = await guarded(t, [list('replace')], ...steps)
  for (const tools of [[{ type: 'custom', name: 'patch' }], []])
    for (const stream of [true, false]) {
      const body = { model: 'small', input: 'x', store: false, tools, stream }
      const answer = await scene.call('POST', '/v1/responses', body)
      const response = stream ? eventsOf(await answer.text()).at(-1).response : await answer.json()
      const [call] = response.output
      t.match(call, { type: 'custom_tool_call', name: 'patch', input: '{"input":"***"}' }, `${tools.length}, ${stream}`)
    }
})

t.test('guards see the text of a document, and leave addresses and bytes alone', async (t) => {
  const scene = await planes['clear']!(t)
  const ask = async (path: string, body: object) => {
    const answer = await fetch(`${scene.base}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${scene.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    t.equal(answer.status, 200, await answer.text())
    return scene.backend.asked.at(-1)!.body.toString()
  }
  const source = { type: 'text', media_type: 'text/plain', data: 'It belongs to ann@example.org.' }
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'document', source },
        { type: 'text', text: 'Whose?' },
      ],
    },
  ]
  for (const model of ['messages', 'chat'])
    t.match(await ask('/v1/messages', { model, max_tokens: 9, messages }), 'It belongs to [EMAIL_1].', model)
  const url = 'https://192.0.2.7/ann@example.org/p.png'
  const file = 'data:application/pdf;name=ann@example.org;base64,JVBERg=='
  const content = [
    { type: 'input_image', image_url: url, detail: 'auto' },
    { type: 'input_file', filename: 'a.pdf', file_data: file },
  ]
  const sent = await ask('/v1/responses', { model: 'responses', store: false, input: [{ role: 'user', content }] })
  for (const part of [url, file]) t.ok(sent.includes(part), part)
})

t.test('a guard that breaks its word ends the call', async (t) => {
  const broken = (create: () => Guard) => use(plugin({ port: Guard, name: 'broken', create }))
  const request = (texts: readonly string[], marks: readonly string[] = []) =>
    broken(() => ({ name: 'broken', marks: [], begin: () => ({ request: async () => ({ texts, marks }) }) }))
  const throwing = broken(() => ({
    ...{ name: 'broken', marks: [] },
    begin: () => ({ request: () => Promise.reject(new Error('ann@example.org')) }),
  }))
  for (const guard of [request([]), request(['x'], ['ann']), throwing]) {
    const scene = await guarded(t, [guard], say('fine'), stop)
    const answer = await scene.ask('hello')
    t.equal(answer.status, 503)
    t.notMatch(await answer.text(), /ann/)
    t.equal(scene.backend.calls.length, 0)
    t.notMatch(JSON.stringify(scene.logged), /ann@/)
  }
})

t.test('requests pass in order and answers in reverse; a reload takes other guards', async (t) => {
  const seen: string[] = []
  const watching = (name: string) =>
    use(
      plugin({
        port: Guard,
        name,
        create: (): Guard => ({
          ...{ name, marks: [] },
          begin: () => ({
            async request(texts) {
              seen.push(`${name} asked`)
              return { texts: texts.map(({ text }) => text) }
            },
            answer: () => ({ take: (text) => ({ text: `${text}${name}` }), end: () => ({ text: '' }) }),
          }),
        }),
      }),
    )
  const scene = await guarded(t, [watching('a'), watching('b')], say('x'), stop)
  const heard = async () => ((await (await scene.ask('hello')).json()) as any).choices[0].message.content
  t.equal(await heard(), 'xba')
  t.same(seen, ['a asked', 'b asked'])
  await scene.gateway.renew({ settings: { models: { small: { upstreams: [{ provider: 'a' }] } } }, guards: [] })
  t.equal(await heard(), 'x')
})
