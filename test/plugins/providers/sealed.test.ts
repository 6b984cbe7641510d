import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { BadRequest, Forbidden, NotFound, TooLarge, Unauthorized, UpstreamFailed } from '../../../core/errors.ts'
import type { ChatAnswer } from '../../../core/ports/upstream.ts'
import { type Fault, SealgateError } from '../../../plugins/sealed/client/error.ts'
import sealed from '../../../plugins/providers/sealed.ts'
import { type Whose, faultsFor } from '../../../plugins/providers/sealed/faults.ts'
import { transcriptOf } from '../../../plugins/providers/sealed/transcript.ts'
import { conform } from '../../contracts/contract.ts'
import { type Scene, type Stage, upstream } from '../../contracts/upstream.ts'
import { chunk, echo, sealedStage } from '../../fakes/sealing.ts'
import { backend, provided } from '../../contracts/stage.ts'
import { until } from '../../until.ts'

const signal = new AbortController().signal

const call = (content: string, stream = false) => ({
  model: 'quiet',
  stream,
  body: { messages: [{ role: 'user', content }] },
})

const chunksOf = (answer: ChatAnswer) => {
  if (answer.kind !== 'chunks') throw new Error('A stream is expected')
  return answer.chunks
}

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const head = { id: '1', created: 1, model: 'm', service_tier: 'default' }
const calls = [0, 1].map((index) => ({
  ...{ index, id: `c${index}`, type: 'function' },
  function: { name: 'weather', arguments: '{"city":"Lima"}' },
}))

/** What the enclave's own backend answers in each scene. */
const played = (scene: Scene, stream: boolean): ChatAnswer => {
  const cause = new Error('secret-of-the-backend')
  if (scene === 'refuses') throw new BadRequest('The backend refused the request', { cause })
  const tools = scene === 'calls tools'
  const delta = tools ? { content: null, tool_calls: calls } : { content: 'Two cafés 😀' }
  const finish_reason = tools ? 'tool_calls' : 'stop'
  if (!stream) {
    const message = { role: 'assistant', ...delta }
    const choices = [{ index: 0, message, finish_reason }]
    return { kind: 'completion', completion: { ...head, object: 'chat.completion', choices, usage } }
  }
  const piece = { ...head, object: 'chat.completion.chunk' }
  async function* chunks() {
    yield { ...piece, choices: [{ index: 0, delta: { role: 'assistant', content: 'Two ' }, finish_reason: null }] }
    // The first frame goes out by itself.
    await sleep(20)
    if (scene === 'complains') throw new UpstreamFailed(undefined, { cause })
    const rest = tools ? delta : { content: 'cafés 😀' }
    yield { ...piece, choices: [{ index: 0, delta: rest, finish_reason: null }] }
    yield { ...piece, choices: [{ index: 0, delta: {}, finish_reason }] }
    yield { ...piece, choices: [], usage }
  }
  async function* calling() {
    yield { ...piece, choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] }
    yield { ...piece, choices: [{ index: 0, delta: {}, finish_reason }] }
    yield { ...piece, choices: [], usage }
  }
  return { kind: 'chunks', chunks: tools ? calling() : chunks() }
}

const statuses: Readonly<Record<string, number>> = { denies: 401, limits: 429, breaks: 500 }

/** The provider before a gateway whose answers are played at the socket: whole, cut, slowly or not at all. */
const staged = async (t: Test): Promise<Stage> => {
  let scene: Scene = 'answers'
  const stage = await sealedStage(t, { play: ({ stream }) => played(scene, stream), settings: { limits: plenty } })
  const server = await backend(t, async ({ method, path, headers, body }) => {
    if (scene === 'page')
      return { headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>secret-of-the-backend' }
    const isChat = path.endsWith('/chat/completions')
    const status = isChat && typeof scene === 'string' ? statuses[scene] : undefined
    if (status !== undefined) return { status, headers: { 'retry-after-ms': '7000' }, body: 'secret-of-the-backend' }
    if (isChat && scene === 'silent') return { body: '', pace: 'silent' }
    const { authorization = '' } = headers
    const asked = { method, headers: { authorization }, ...(method === 'POST' && { body: body.toString() }) }
    const answer = await globalThis.fetch(stage.base + path, asked)
    // A stage that closes cuts what nobody waits for any more.
    const text = await answer.text().catch(() => '')
    // A connection that is kept for later calls would count as one that an aborted call holds.
    const whole = {
      status: answer.status,
      headers: { 'content-type': answer.headers.get('content-type') ?? '', connection: 'close' },
    }
    if (!isChat) return { ...whole, body: text }
    if (scene === 'garbles') return { ...whole, body: garbled(text) }
    if (scene === 'dribbles') return { ...whole, body: text, pace: 'bytewise' }
    if (typeof scene === 'string') return { ...whole, body: text }
    const [how = '', share = 0] = Object.entries(scene)[0] ?? []
    return { ...whole, body: text, pace: { [how]: Math.floor(share * text.length) } as { cut: number } }
  })
  const settings = { baseUrl: server.url, apiKey: stage.apiKey, allowInsecureDev: true }
  const asked = () => ({ ...stage.calls.at(-1)?.body, model: stage.calls.at(-1)?.model })
  const upstream = await provided(t, sealed, settings)
  // The enclave is verified by the first call, which takes long on a busy machine.
  await upstream.chat?.(call('Ready?'), signal)
  return {
    upstream,
    model: 'quiet',
    scene: (to) => void (scene = to),
    asked,
    sockets: server.open,
  }
}

/** A digit of the last frame is another one. */
const garbled = (text: string): string => {
  const at = text.lastIndexOf('event: data') + 60
  return text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1)
}

const plenty = {
  key: { requestsPerSecond: null, concurrentRequests: null, tokensPerMinute: null },
  organization: { requestsPerSecond: null, concurrentRequests: null, tokensPerMinute: null },
  sealedStreams: 100,
}

t.test('the provider keeps the contract of upstreams', (t) => conform(t, upstream.contract, staged))

t.test('what a gateway lists, answers and hears behind its seal', async (t) => {
  const stage = await sealedStage(t)
  const inner = await provided(t, sealed, { baseUrl: `${stage.base}/`, apiKey: stage.apiKey, allowInsecureDev: true })
  t.match(
    (await inner.models(signal)).map(({ id, type }) => [id, type]),
    [['quiet', 'CHAT'], ['other', 'CHAT'], ['hearing', 'AUDIO_TRANSCRIPTION']], // prettier-ignore
  )
  const receipt = { ...call('Hello there'), body: { ...call('Hello there').body, receipt: true } }
  t.match(await inner.chat?.(receipt, signal), {
    kind: 'completion',
    completion: { choices: [{ message: { content: 'Hello there' } }], usage: { total_tokens: 12 } },
  })
  const told = []
  const stream = await inner.chat?.({ ...receipt, stream: true }, signal)
  for await (const chunk of chunksOf(stream as ChatAnswer)) told.push(chunk)
  t.equal(told.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'Hello there')
  t.match(told.at(-1)?.usage, { total_tokens: 12 }, 'a stream is always counted')
  t.notOk(stage.calls.some(({ body }) => 'receipt' in body), 'a wish for a receipt is for the one who seals') // prettier-ignore
  const audio = { name: 'a.wav', mime: 'audio/wav', bytes: new Uint8Array([82, 73, 70, 70]) }
  for (const name of ['{take 1}.wav', '{{', 'a\tb.wav', `${'世'.repeat(100)}.wav`, '😀'.repeat(64)])
    t.match(
      await inner.transcribe?.(
        { model: 'hearing', audio: { ...audio, name }, translate: false, granularities: [] },
        signal,
      ),
      { text: 'heard' },
      name,
    )
  for (const translate of [false, true])
    t.match(await inner.transcribe?.({ model: 'hearing', audio, translate, granularities: [] }, signal), {
      text: 'heard',
      language: 'en',
      duration: 1,
    })
  const sent = stage.logged.filter(({ event }) => event === 'request').map(({ facts }) => String(facts['route']))
  t.same(
    sent.filter((route) => !/^(GET|POST) \/rvenc\//.test(route)),
    [],
    'all of it by sealed routes',
  )
})

t.test('a sealed sound without an end has no length', (t) => {
  const told = (duration: unknown) => transcriptOf({ metadata: { duration }, results: { channels: [] } })
  t.match(
    [1.5, Infinity, -1, undefined].map((duration) => told(duration).duration),
    [1.5, null, null, null],
  )
  t.end()
})

t.test('a place of a stream comes back however the stream ends', async (t) => {
  let open = 0
  const stage = await sealedStage(t, {
    play(asked, signal) {
      if (!asked.stream) return echo(asked, signal)
      const text = String(asked.body.messages.at(-1)?.content)
      async function* chunks() {
        open++
        yield chunk({ content: 'one ' })
        if (text === 'breaks') throw new UpstreamFailed()
        if (text === 'hangs') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) // prettier-ignore
        yield chunk({ content: 'two' }, 'stop')
      }
      return { kind: 'chunks', chunks: chunks() }
    },
  })
  const inner = await provided(t, sealed, { baseUrl: stage.base, apiKey: stage.apiKey, allowInsecureDev: true })
  const begun = async (content: string, signal: AbortSignal) =>
    chunksOf((await inner.chat?.(call(content, true), signal)) as ChatAnswer)
  for (const end of ['whole', 'breaks', 'left', 'aborted', 'never read', 'refused']) {
    const leaving = new AbortController()
    const content = end === 'breaks' ? 'breaks' : end === 'whole' ? 'whole' : 'hangs'
    const reading = async () => {
      if (end === 'refused') return inner.chat?.({ ...call('x', true), model: 'nobody' }, leaving.signal)
      const chunks = await begun(content, leaving.signal)
      if (end === 'never read') return leaving.abort()
      for await (const _ of chunks) {
        if (end === 'left') return
        if (end === 'aborted') leaving.abort(new Error('enough'))
      }
    }
    await reading().catch(() => undefined)
    const waiting = new AbortController()
    const next = begun('whole', waiting.signal)
    const text = await next.then(async (chunks) => {
      let text = ''
      for await (const { choices } of chunks) text += choices[0]?.delta.content ?? ''
      return text
    })
    t.equal(text, 'one two', `after a stream that is ${end}`)
  }
  t.ok(await until(() => open > 0))
})

t.test('the sealed reason of a 429 reaches the caller, and no call waits for such a refusal', async (t) => {
  const windows = [{ of: 'key' as const, model: 'quiet', requests: 1, per: 'day' as const }]
  const stage = await sealedStage(t, { settings: { quotas: { windows } } })
  const inner = await provided(t, sealed, { baseUrl: stage.base, apiKey: stage.apiKey, allowInsecureDev: true })
  const ask = async () => inner.chat?.(call('Hi'), signal)
  let refusal: unknown = null
  await until(() =>
    ask().then(
      () => false,
      (error: unknown) => ((refusal = error), true),
    ),
  )
  t.match(refusal, { code: 'window_used_up', answered: 429 })
  const asked = () => stage.logged.filter(({ facts }) => facts['status'] === 429).length
  const before = asked()
  await t.rejects(ask())
  t.equal(asked(), before + 1, 'a used-up window is asked once')
})

t.test('each fault has one meaning for an operator and one for the caller of the own machine', async (t) => {
  const facts = { retryAfter: 7_000 }
  const fault = (name: Fault, more: object, whose: Whose) =>
    faultsFor(whose)(new SealgateError(name, { ...facts, ...more }))
  for (const [name, more, operator, caller, code] of [
    ['unauthorized', { status: 401 }, UpstreamFailed, Unauthorized, 'unauthorized'],
    ['unauthorized', { status: 403 }, UpstreamFailed, Forbidden, 'unauthorized'],
    ['failed', { code: 'unknown_model', field: 'model' }, UpstreamFailed, NotFound, 'model_not_found'],
    ['failed', { code: 'invalid_parameters', field: 'top_p' }, BadRequest, BadRequest, 'invalid_parameters'],
    ['failed', { code: 'context_length_exceeded' }, BadRequest, BadRequest, 'context_length_exceeded'],
    ['failed', { code: 'insufficient_quota' }, UpstreamFailed, UpstreamFailed, 'insufficient_quota'],
    ['failed', { code: 'upstream_failed' }, UpstreamFailed, UpstreamFailed, 'upstream_failed'],
    ['failed', { code: 'a_code_to_come' }, UpstreamFailed, UpstreamFailed, 'a_code_to_come'],
    ['too_large', { status: 413 }, TooLarge, TooLarge, 'too_large'],
    ['refused', { status: 400 }, BadRequest, BadRequest, 'refused'],
    ['busy', { status: 429 }, UpstreamFailed, UpstreamFailed, 'busy'],
    ['unavailable', { status: 503 }, UpstreamFailed, UpstreamFailed, null],
    ['unreachable', {}, UpstreamFailed, UpstreamFailed, null],
    ['insecure', {}, UpstreamFailed, UpstreamFailed, 'insecure'],
    ['damaged', {}, UpstreamFailed, UpstreamFailed, 'damaged'],
  ] as const) {
    const seen = fault(name, more, 'operator')
    t.ok(seen instanceof operator, `${name} ${JSON.stringify(more)}, for an operator`)
    t.equal((seen as UpstreamFailed).code, code)
    t.ok(fault(name, more, 'caller') instanceof caller, `${name} ${JSON.stringify(more)}, for a caller`)
  }
  for (const [name, again] of [
    ['busy', true],
    ['unreachable', true],
    ['truncated', true],
    ['insecure', false],
    ['unverified', false],
    ['damaged', false],
  ] as const)
    // prettier-ignore
    t.equal((fault(name, {}, 'caller') as UpstreamFailed).again, again, `${name}: another try`)
  t.ok((fault('damaged', {}, 'operator') as UpstreamFailed).again, 'another backend is asked')
  t.match(fault('busy', { status: 429 }, 'operator'), { answered: 429, retryAfter: 7_000 })
  const foreign = new Error('not of the client')
  t.equal(faultsFor('operator')(foreign), foreign, 'any other error stays as it is')
})
