import './fakes/unwatched.ts'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { BadRequest, UpstreamFailed } from '../core/errors.ts'
import { running } from './environments.ts'
import { eventsOf } from './fakes/doors.ts'
import { sealing } from './fakes/proxied.ts'
import { type Play, chunk, echo, sealedStage } from './fakes/sealing.ts'

const hello = [{ role: 'user' as const, content: 'Grüße' }]
const pattern = /rehearsal.*Grüße$/

const doors = async (t: Test) => {
  const gateway = await running(t, memory())
  const proxy = await sealing(t, ['--base-url', gateway.base, '--allow-insecure-dev'], { SEALGATE_KEY: gateway.key })
  const base = proxy.url.replace(/\/v1$/, '')
  const post = (path: string, body: object) => fetch(base + path, { method: 'POST', body: JSON.stringify(body) })
  return { gateway, proxy, base, post }
}

t.test('every dialect is spoken on this side, and sealed on the other', async (t) => {
  const { gateway, proxy, base, post } = await doors(t)
  const response = await proxy.openai.responses.create({ model: 'rehearsal', input: 'Grüße' })
  t.match(response, { object: 'response', status: 'completed', output_text: pattern })

  const anthropic = new Anthropic({ baseURL: base, apiKey: 'x', maxRetries: 0 })
  const message = await anthropic.messages.create({ model: 'rehearsal', max_tokens: 100, messages: hello })
  t.match(message, { role: 'assistant', model: 'rehearsal', content: [{ type: 'text', text: pattern }] })
  t.match(message._request_id, /^[0-9a-f-]{36}$/, 'the gateway’s id of the request is passed on')
  const counted = await post('/v1/messages/count_tokens', { model: 'rehearsal', messages: hello })
  t.equal(counted.headers.get('x-sealgate-estimated'), 'true')
  t.ok(((await counted.json()) as any).input_tokens > 0)

  const google = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: base } })
  t.match((await google.models.generateContent({ model: 'rehearsal', contents: 'Grüße' })).text, pattern)
  const list = await post('/v1beta/models/rehearsal:streamGenerateContent', {
    contents: [{ role: 'user', parts: [{ text: 'Grüße' }] }],
  })
  t.ok(Array.isArray(await list.json()))

  t.match(await proxy.openai.models.retrieve('rehearsal'), { id: 'rehearsal', object: 'model' })
  t.match(await anthropic.models.retrieve('rehearsal'), { id: 'rehearsal', type: 'model' })
  t.match(await (await fetch(`${base}/v1beta/models/rehearsal`)).json(), { name: 'models/rehearsal' })
  t.equal((await fetch(base, { method: 'HEAD' })).status, 200)
  const open = gateway.logged.filter(({ facts }) => /\/(v1|v1beta|std)\//.test(String(facts['route'])))
  t.same(open, [], 'nothing goes to a route in the clear')
  t.ok(gateway.logged.filter(({ facts }) => facts['route'] === 'POST /rvenc/chat/completions').length >= 4)
})

t.test('errors are told in the dialect of the door', async (t) => {
  const { proxy, base, post } = await doors(t)
  for (const stream of [false, true]) {
    const unknown = await post('/v1/messages', { model: 'none', max_tokens: 9, messages: hello, stream })
    t.same([unknown.status, ((await unknown.json()) as any).error.type], [404, 'not_found_error'])
  }
  const google = await post('/v1beta/models/none:generateContent', {
    contents: [{ role: 'user', parts: [{ text: 'x' }] }],
  })
  t.match(await google.json(), { error: { code: 404, status: 'NOT_FOUND', message: /does not exist/ } })
  t.match(await (await post('/v1/messages', { model: 'rehearsal' })).json(), { type: 'error', error: { type: 'invalid_request_error', message: /max_tokens|messages/ } }) // prettier-ignore
  const stored = await post('/v1/responses', { model: 'rehearsal', input: 'x', previous_response_id: 'r' })
  t.equal(stored.status, 400)
  for (const path of ['images/generations', 'images/edits', 'audio/speech']) {
    const refused = await post(`/v1/${path}`, { model: 'rehearsal', input: 'x' })
    t.match(await refused.json(), { error: { code: 'not_sealed', message: /nothing leaves here unsealed/ } }, path)
  }
  await t.rejects(proxy.openai.models.retrieve('none'), { status: 404 } as unknown as Error)
  t.equal((await fetch(`${base}/v1/nothing`)).status, 404)
})

t.test('what fails before the first frame has its status, and a sentence for its code', async (t) => {
  const faults = { upstream_failed: new UpstreamFailed(undefined, { again: false }), refused: new BadRequest('x') }
  const stage = await sealedStage(t, {
    play({ body }) {
      const fault = faults[String(body.messages.at(-1)!.content) as keyof typeof faults]
      async function* chunks() {
        if (fault !== undefined) throw fault
        yield chunk({ content: 'one' })
      }
      return { kind: 'chunks', chunks: chunks() }
    },
  })
  const { url } = await sealing(t, ['--base-url', stage.base, '--key', stage.apiKey, '--allow-insecure-dev'])
  for (const [content, status, sentence] of [
    ['upstream_failed', 502, /backend of the enclave failed/],
    ['refused', 400, /refused the request/],
  ] as const) {
    for (const [path, more] of [
      ['chat/completions', {}],
      ['messages', { max_tokens: 9 }],
    ] as const) {
      const body = JSON.stringify({ model: 'quiet', stream: true, messages: [{ role: 'user', content }], ...more })
      const answer = await fetch(`${url}/${path}`, { method: 'POST', body })
      t.equal(answer.status, status, `${path} ${content}`)
      t.match(await answer.json(), { error: { code: content, message: sentence } })
    }
  }
})

t.test('a sealed stream that breaks ends in an error of its dialect', async (t) => {
  async function* chunks() {
    yield chunk({ content: 'one' })
    throw new UpstreamFailed(undefined, { again: false })
  }
  const stage = await sealedStage(t, { play: () => ({ kind: 'chunks', chunks: chunks() }) })
  const { url } = await sealing(t, ['--base-url', stage.base, '--key', stage.apiKey, '--allow-insecure-dev'])
  const base = url.replace(/\/v1$/, '')
  const asked = { model: 'quiet', stream: true }
  const parts = [{ role: 'user', parts: [{ text: 'x' }] }]
  for (const [path, body, last] of [
    [
      '/v1/chat/completions',
      { ...asked, messages: hello },
      { error: { code: 'upstream_failed', type: 'upstream_error', message: String } },
    ],
    ['/v1/responses', { ...asked, input: 'x' }, { type: 'response.failed', response: { error: { code: String } } }],
    ['/v1/messages', { ...asked, messages: hello, max_tokens: 9 }, { type: 'error', error: { type: 'api_error' } }],
    [
      '/v1beta/models/quiet:streamGenerateContent?alt=sse',
      { contents: parts },
      { error: { code: 502, status: String } },
    ],
  ] as const) {
    const answer = await fetch(base + path, { method: 'POST', body: JSON.stringify(body) })
    t.equal(answer.status, 200, path)
    t.match(eventsOf(await answer.text()).at(-1), last, path)
  }
})

t.test('sealed streams wait for their turn', async (t) => {
  const begun: string[] = []
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const play: Play = (call, signal) => {
    const name = String(call.body.messages.at(-1)!.content)
    begun.push(name)
    if (name !== 'first') return echo(call, signal)
    async function* chunks() {
      yield chunk({ content: 'first' })
      await gate
      yield chunk({}, 'stop')
    }
    return { kind: 'chunks', chunks: chunks() }
  }
  const stage = await sealedStage(t, { play })
  const args = ['--base-url', stage.base, '--key', stage.apiKey, '--allow-insecure-dev', '--streams', '1']
  const { openai } = await sealing(t, args)
  const ask = (content: string, signal?: AbortSignal) =>
    openai.chat.completions.create(
      { model: 'quiet', stream: true, messages: [{ role: 'user', content }] },
      signal && { signal },
    )
  const read = async (content: string) => {
    let text = ''
    for await (const { choices } of await ask(content)) text += choices[0]?.delta.content ?? ''
    return text
  }
  const first = await ask('first')
  const leaving = new AbortController()
  const left = ask('left', leaving.signal).catch(() => 'left')
  const [second, third] = [read('second'), read('third')]
  const whole = await openai.chat.completions.create({ model: 'quiet', messages: [{ role: 'user', content: 'whole' }] })
  t.equal(whole.choices[0]!.message.content, 'whole', 'whole answers wait for nobody')
  leaving.abort()
  t.equal(await left, 'left')
  t.same(begun, ['first', 'whole'])
  release()
  for await (const _ of first);
  t.same(await Promise.all([second, third]), ['second', 'third'])
  t.notOk(begun.includes('left'), 'whoever leaves the queue is never asked for')
  t.notOk(
    stage.logged.some(({ facts }) => facts['status'] === 429),
    'the gateway refuses none of them',
  )
})

t.test('signed thoughts come back to the backend that gave them', async (t) => {
  const thoughts = [{ type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' }]
  const play: Play = ({ stream }) => {
    if (stream) throw new BadRequest('x')
    const message = { role: 'assistant', content: 'Yes.', thinking_blocks: thoughts, reasoning_content: 'Hm.' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return { kind: 'completion', completion: { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices } }
  }
  const stage = await sealedStage(t, { play })
  const args = ['--base-url', stage.base, '--key', stage.apiKey, '--allow-insecure-dev']
  const proxy = await sealing(t, args)
  const input: any[] = [{ role: 'user', content: 'Well?' }]
  const response = await proxy.openai.responses.create({
    model: 'quiet',
    input,
    include: ['reasoning.encrypted_content'],
  })
  t.match(response.output[0], { type: 'reasoning', encrypted_content: /^sealgate\./ })
  const next = await sealing(t, args)
  const turns = [...input, ...response.output, { role: 'user', content: 'And?' }]
  await next.openai.responses.create({ model: 'quiet', input: turns })
  const sent = stage.calls.at(-1)!.body.messages
  t.notOk(
    sent.some((message) => 'thinking_blocks' in message),
    'a backend of another dialect would refuse them',
  )
  t.match(sent[1], { role: 'assistant', content: 'Yes.' })
  const foreign = await stage.gateway.keys.create({})
  const other = await sealing(t, ['--base-url', stage.base, '--key', foreign.credential, '--allow-insecure-dev'])
  const strange = await other.openai.responses.create({ model: 'quiet', input: turns }).then(
    () => 200,
    ({ status }) => status,
  )
  t.ok([200, 400].includes(strange), 'another key opens nothing of it')
})
