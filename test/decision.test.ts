import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTypeSafeAi } from '@ai-sdk/typesafe-ai'
import * as sdk from '@typesafe-ai/sdk'
import { experimental_decide } from 'ai'
import { OpenRouter } from '@openrouter/sdk'
import fc from 'fast-check'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import { Pool } from 'undici'
import { memory } from '../adapters/memory/index.ts'
import type { Fitting } from '../core/container.ts'
import { print } from '../core/dialects/json.ts'
import { BadRequest, UpstreamFailed } from '../core/errors.ts'
import { createGateway } from '../core/gateway.ts'
import { Upstream, type ChatCall, type DecideCall, type Question } from '../core/ports/upstream.ts'
import type { SettingsInput } from '../core/settings.ts'
import { refusal } from '../plugins/shared/decisions/probabilities.ts'
import { type Running, running } from './environments.ts'
import { mapsOf, oddMembers, oddValues } from './fakes/odd-values.ts'
import { quietClock, slowness } from './slowness.ts'
import { until } from './until.ts'
import { isWhole, seed } from './whole.ts'
import { given } from './fitted.ts'

const fields = ['status', 'data', 'error', 'message', 'env', 'log', 'validator', 'support_id']
const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const yes = { type: 'noul', instructions: 'Is it so?' }
const body = (questions: unknown = { q: yes }, more: object = {}) => ({
  model: 'sure',
  state: 'A state.',
  questions,
  ...more,
})

const textsOf = (question: Question): readonly string[] => {
  if (question.type === 'choice') return question.options.map(({ label }) => label)
  return question.type === 'score' ? question.levels.map((level, index) => `${index} ${print(level)}`) : ['yes', 'no']
}

/** Always of one mind: what it thinks rests on the state, the question and the label alone. */
const mindOf = ({ state }: DecideCall, question: Question): readonly number[] => {
  const weights = textsOf(question).map(
    (text) =>
      1 +
      createHash('sha256')
        .update(print([state, question.instructions, text]))
        .digest()
        .readUInt32BE(0),
  )
  const sum = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / sum)
}

interface Backends {
  /** What happens before an answer; the test may change it at any time. */
  before(questions: readonly Question[] | ChatCall, signal: AbortSignal): Promise<void>
  /** How many are being asked right now. */
  running: number
  /** When a call was last told to stop. */
  stopped: number
  /** Sees each call of the backend that decides by itself. */
  seen(call: DecideCall): void
  /** Which questions that backend declines. */
  declines(question: Question): boolean
}

/** One backend that decides by itself, and one that chats and shows log-probabilities. */
const backends = (): { readonly backends: Backends; readonly upstreams: readonly Fitting<Upstream>[] } => {
  const backends: Backends = { before: async () => {}, running: 0, stopped: 0, seen: () => {}, declines: () => false }
  const within = async <T>(what: readonly Question[] | ChatCall, signal: AbortSignal, answer: () => T): Promise<T> => {
    const stop = () => void (backends.stopped = performance.now())
    signal.addEventListener('abort', stop)
    backends.running++
    try {
      await backends.before(what, signal)
      return answer()
    } finally {
      backends.running--
      signal.removeEventListener('abort', stop)
    }
  }
  const mind: Upstream = {
    name: 'mind',
    models: async () => [{ id: 'sure', type: 'DECISION' }],
    decide: (call, signal) =>
      within(call.questions, signal, () => {
        backends.seen(call)
        return {
          distributions: call.questions.map((question) =>
            backends.declines(question)
              ? refusal(textsOf(question).length)
              : { probabilities: mindOf(call, question), labelMass: 1 },
          ),
          usage: { input: 12.4, output: 1 },
          engine: 'native',
        }
      }),
  }
  const talk: Upstream = {
    name: 'talk',
    models: async () => [{ id: 'talker', type: 'CHAT' }],
    chat: (call, signal) =>
      within(call, signal, () => {
        const content = call.body.messages[0]!.content
        const text = typeof content === 'string' ? content : (content?.at(-1)?.text ?? '')
        const marks = [...text.matchAll(/^([A-Z]|\d|yes|no)(?::.*)?$/gm)].map((match) => match[1]!)
        const top = marks.map((token, at) => ({
          token,
          logprob: Math.log((0.9 * (at + 1)) / ((marks.length * (marks.length + 1)) / 2)),
        }))
        const logprobs = { content: [{ token: marks[0], logprob: top[0]!.logprob, top_logprobs: top }] }
        const message = { role: 'assistant', content: marks[0]! }
        const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 }
        const choices = [{ index: 0, message, finish_reason: 'length', logprobs }]
        const completion = { id: 'c', object: 'chat.completion', created: 0, model: 'm', choices, usage }
        return { kind: 'completion' as const, completion }
      }),
  }
  const upstreams = [mind, talk].map((made) => given(Upstream, made.name, () => made))
  return { backends, upstreams }
}

const models: SettingsInput['models'] = {
  sure: { type: 'DECISION', description: 'Sure of itself', created: 86_400, upstreams: [{ provider: 'mind' }] },
  talker: { decide: true, upstreams: [{ provider: 'talk' }] },
  chatty: { upstreams: [{ provider: 'talk' }] },
  sealed: { type: 'DECISION', standard: false, confidential: true, upstreams: [{ provider: 'elsewhere' }] },
}
const unlimited = { requestsPerSecond: null, concurrentRequests: null, tokensPerMinute: null }

const house = async (t: Test, given: SettingsInput = {}) => {
  const { backends: backend, upstreams } = backends()
  const settings: SettingsInput = {
    models,
    routing: { retries: 0 },
    limits: { key: unlimited, organization: unlimited },
    ...given,
  }
  const gateway: Running = await running(t, { ...memory(), upstreams }, settings)
  const decide = async (sent: unknown, headers: Record<string, string> = {}, path = '/compat/v1/decision') => {
    const answer = await gateway.call('POST', path, sent, headers)
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) }
  }
  /** Waits until none is asked any more and every place is free again. */
  const quiet = async () => {
    while (backend.running > 0) await sleep(2)
    while ((await decide(body())).status === 429) await sleep(2)
  }
  /** As many calls as there are places, all of them waiting. Those who call leave at `leave`. */
  const crowd = async (count: number) => {
    await quiet()
    backend.before = hang
    const controller = new AbortController()
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    const one = () =>
      fetch(`${gateway.base}/compat/v1/decision`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body()),
        signal: controller.signal,
      })
    const calls = Array.from({ length: count }, () => one().catch(() => null))
    while (backend.running < count) await sleep(2)
    backend.before = async () => {}
    return {
      async leave() {
        controller.abort()
        await Promise.all(calls)
      },
    }
  }
  return { ...gateway, backends: backend, decide, quiet, crowd }
}

const gate = (): readonly [opened: Promise<void>, open: () => void] => {
  let open = () => {}
  return [new Promise<void>((resolve) => (open = resolve)), () => open()]
}
const hang = (_: unknown, signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
const after =
  (ms: number): Backends['before'] =>
  async (_, signal) => {
    await sleep(ms, undefined, { signal })
  }

const ticket = {
  state: { z: 'Charged twice.', 10: 'ten', 2: 'two' },
  questions: {
    team: sdk.choice('Which team?', { billing: { includes: ['Charges'] }, technical: ['Bugs'], other: null }),
    refund: sdk.noul('Do they want money back?', { true: 'They ask for it' }),
    severity: sdk.score('How bad?', ['Cosmetic', null, { blocks: 'everything' }]),
  },
}

t.test('the stock client', async (t) => {
  const gateway = await house(t)
  const client = new sdk.TypeSafeClient({ apiKey: gateway.key, baseURL: `${gateway.base}/compat`, logLevel: 'off' })
  const impatient = { retry: { maxRetries: 0 } }

  t.test('every type, by the default model', async (t) => {
    const { data, requestId, response } = await client.systemOne(ticket).withResponse()
    t.equal(data.model, 'sure', 'the name that stands behind jev-latest')
    t.match(requestId, uuid7)
    t.equal(response.headers.get('x-request-id'), requestId)
    const { team, refund, severity } = data.answers
    t.equal(team.type, 'choice')
    t.same(Object.keys(team.probabilities), ['billing', 'technical', 'other'])
    t.equal(team.probabilities[team.choice], Math.max(...Object.values(team.probabilities)))
    t.same(Object.keys(refund), ['type', 'noul'])
    t.same(severity.legend, { 0: 'Cosmetic', 1: '1', 2: { blocks: 'everything' } })
    const { 1: one, 2: two } = severity.probabilities
    t.ok(Math.abs(severity.score - (one + 2 * two)) < 1e-12)
    t.ok(Number.isInteger(data.usage.input_tokens) && Number.isInteger(data.usage.output_tokens))
    t.match(data, { x_diagnostics: { engine: 'native', backend: 'mind' } })
    t.same((await client.systemOne({ ...ticket, model: 'sure' })).answers, data.answers, 'always of one mind')
  })

  t.test('models', async (t) => {
    const { data, requestId } = await client.models.list().withResponse()
    t.match(requestId, uuid7)
    t.same(data, [
      { name: 'sure', description: 'Sure of itself', release_date: '1970-01-02' },
      { name: 'talker', description: '', release_date: new Date().toISOString().slice(0, 10) },
    ])
  })

  t.test('every class of error', async (t) => {
    const { credential: scopeless } = await gateway.gateway.keys.create({ scopes: ['tools.execute'] })
    const as = (apiKey: string) =>
      new sdk.TypeSafeClient({ apiKey, baseURL: client.baseURL, logLevel: 'off', ...impatient })
    const failing = async (work: PromiseLike<unknown>, kind: new (...given: any[]) => Error, more: object = {}) => {
      const error: any = await Promise.resolve(work).then(
        () => null,
        (error: unknown) => error,
      )
      t.equal(error?.constructor, kind, `${kind.name}: ${error?.message}`)
      t.match(error, more)
      if (error instanceof sdk.APIError) t.match(error.requestId, uuid7, 'with its request id')
    }
    const ask = (more: object = {}, options: sdk.RequestOptions = impatient) =>
      client.systemOne({ ...ticket, ...more } as typeof ticket, options)
    gateway.backends.before = () => Promise.reject(new BadRequest('The backend refused the request'))
    await failing(ask(), sdk.BadRequestError, { status: 400, message: '400 The backend refused the request' })
    await failing(as('sk_live_nobody').systemOne(ticket), sdk.AuthenticationError, { status: 401 })
    await failing(as(scopeless).systemOne(ticket), sdk.PermissionDeniedError, { status: 403 })
    await failing(ask({ model: 'nobody' }), sdk.NotFoundError, {
      status: 404,
      body: { detail: { error_type: 'not_found' } },
    })
    await failing(
      ask({ questions: { q: { type: 'choice', criteria: {} } }, samples: 99 }),
      sdk.UnprocessableEntityError,
      {
        status: 422,
        message: /^422 questions\.q\.criteria: expected .*; samples: expected/,
        body: {
          detail: [
            { loc: ['body', 'questions', 'q', 'criteria'], msg: String, type: 'value_error' },
            { loc: ['body', 'samples'] },
          ],
        },
      },
    )
    gateway.backends.before = () =>
      Promise.reject(new UpstreamFailed(undefined, { validator: { 1: 'the backend refused to answer' } }))
    await failing(ask(), sdk.InternalServerError, {
      status: 502,
      message: '502 questions.refund: the backend refused to answer',
      body: { detail: { error_type: 'upstream_failed' } },
    })
    gateway.backends.before = after(300)
    await failing(ask({}, { ...impatient, timeout: 50 }), sdk.APITimeoutError)
    await failing(ask({}, { ...impatient, signal: AbortSignal.timeout(50) }), sdk.APIUserAbortError)
    await failing(
      Promise.resolve().then(() => ask({ questions: {} })),
      sdk.TypeSafeError,
    )
    const nowhere = new sdk.TypeSafeClient({
      apiKey: gateway.key,
      baseURL: 'http://127.0.0.1:1',
      logLevel: 'off',
      ...impatient,
    })
    await failing(nowhere.systemOne(ticket), sdk.APIConnectionError)
    const crowd = await gateway.crowd(4)
    await failing(ask(), sdk.RateLimitError, {
      status: 429,
      retryAfterMs: Number,
      body: { detail: { error_type: 'rate_limited' } },
    })
    await crowd.leave()
  })
})

t.test('sixteen calls of the stock client at once, over four places', async (t) => {
  const gateway = await house(t)
  const client = new sdk.TypeSafeClient({ apiKey: gateway.key, baseURL: `${gateway.base}/compat` })
  gateway.backends.before = after(300)
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, gateway.backends.running)), 5)
  t.teardown(() => clearInterval(watch))
  const clock = quietClock()
  const all = await Promise.all(Array.from({ length: 16 }, () => client.systemOne(ticket)))
  const ms = clock()
  t.comment(`sixteen calls of 300 ms over four places in ${ms.toFixed(0)} ms, ${most} at most together`)
  t.equal(new Set(all.map(({ answers }) => JSON.stringify(answers))).size, 1)
  t.ok(ms < 5000, `${ms} ms`)
  t.ok(most <= 4, `${most} together`)
})

t.test('AI SDK', async (t) => {
  const gateway = await house(t)
  const provider = createTypeSafeAi({ apiKey: gateway.key, baseURL: `${gateway.base}/compat/v1` })
  const questions = {
    department: { type: 'choice', instructions: 'Who?', criteria: { billing: { includes: ['Refunds'] }, other: null } },
    severity: { type: 'score', instructions: 'How bad?', criteria: ['Cosmetic', 'A way around exists', 'Blocking'] },
    refund: { type: 'boolean', instructions: 'Do they want money back?' },
  } as const
  for (const model of ['jev-latest', 'talker']) {
    // Their two packages disagree about optional fields, which no one but the strictest compiler sees.
    const given = {
      model: provider.evaluationModel(model) as never,
      state: { message: 'Charged twice.' },
      questions,
      maxRetries: 0,
    }
    const { answers, usage, providerMetadata, response } = await experimental_decide(given)
    const shares = Object.values(answers.department.probabilities!)
    t.same(Object.keys(answers.department.probabilities!), ['billing', 'other'])
    t.ok(Math.abs(shares.reduce((sum, share) => sum + share) - 1) < 1e-9)
    t.ok(answers.severity.score >= 0 && answers.severity.score <= 2)
    t.ok(answers.refund.probability > 0 && answers.refund.probability < 1)
    t.match(usage, { inputTokens: Number, outputTokens: Number })
    t.match(providerMetadata, { typesafe: { confidence: { department: Number, severity: Number } } })
    t.equal(response.modelId, model === 'talker' ? 'talker' : 'sure')
  }
  const wrong = { model: provider.evaluationModel('nobody') as never, state: 'x', questions, maxRetries: 0 }
  const error: any = await experimental_decide(wrong).catch((error: unknown) => error)
  t.equal(error.statusCode, 404)
})

t.test('OpenAI’s clients', async (t) => {
  const gateway = await house(t)
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.base}/v1`, maxRetries: 0 })
  // The resource `decisions` of openai 7 sends just this; test/stock-libraries.test.ts plays the resource itself.
  const ask = (sent: object): Promise<any> => client.post('/decisions', { body: sent })
  const failing = async (work: PromiseLike<unknown>, like: object) =>
    t.match(await Promise.resolve(work).catch((error: unknown) => error), like)
  const team = {
    type: 'choice',
    name: 'team',
    instructions: 'Which team?',
    choices: [{ value: true, description: 'Ours' }, { value: 'true' }, { value: 'billing' }],
  }
  const severity = {
    type: 'score',
    instructions: [{ type: 'input_text', text: 'How bad?' }],
    levels: [{ label: 'low' }, { label: '1', description: 'A way around' }, { label: 'high', description: 'Blocking' }],
  }
  const refund = { type: 'predicate', name: 'refund', instructions: 'Do they want money back?' }
  const asked = { model: 'sure', input: 'Charged twice.', questions: [team, severity, refund] }

  t.test('every type, in order, with typed values', async (t) => {
    const { model, answers, usage } = await ask(asked)
    t.equal(model, 'sure')
    const [which, bad, back] = answers
    t.same(
      which.probabilities.map((backend: any) => backend.value),
      [true, 'true', 'billing'],
    )
    const most = which.probabilities.reduce((one: any, other: any) =>
      other.probability > one.probability ? other : one,
    )
    t.equal(which.choice, most.value)
    const sum = which.probabilities.reduce((sum: number, backend: any) => sum + backend.probability, 0)
    t.ok(Math.abs(sum - 1) < 1e-9, 'each value has its own probability')
    t.ok(which.confidence >= 0 && which.confidence <= 1)
    t.same([which.type, which.name, bad.type, bad.name, back.name], ['choice', 'team', 'score', null, 'refund'])
    t.match(bad.probabilities, [
      { label: 'low', value: 0, probability: Number },
      { label: '1', value: 1 },
      { label: 'high', value: 2 },
    ])
    const { 1: one, 2: two } = bad.probabilities
    t.ok(Math.abs(bad.score - (one.probability + 2 * two.probability)) < 1e-12)
    t.same(Object.keys(back), ['type', 'name', 'probability'])
    t.same(usage, {
      input_tokens: 12,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 13,
    })
    const { answers: same } = await gateway
      .decide({
        model: 'sure',
        state: 'Charged twice.',
        questions: { q: { type: 'noul', instructions: refund.instructions } },
      })
      .then(({ body }) => body)
    t.equal(back.probability, same.q.noul, 'the answer of the interface')
    const told = await client.post('/decisions', { body: { ...asked, safety_identifier: 'x' } }).asResponse()
    t.equal(told.headers.get('x-sealgate-dropped'), 'safety_identifier')
  })

  t.test('turns, JSON, images and calls of tools', async (t) => {
    let seen: DecideCall | null = null
    gateway.backends.seen = (call) => void (seen = call)
    const stateOf = async (input: unknown) => {
      await ask({ ...asked, input })
      return { state: JSON.parse(print(seen!.state)), images: seen!.images }
    }
    const text = (text: string) => ({ type: 'input_text', text })
    t.same(await stateOf([{ role: 'user', content: 'x' }]), { state: 'x', images: [] })
    const data = { b: 1, 10: [{ z: null }] }
    t.same((await stateOf([{ role: 'user', content: [text('x'), { type: 'input_json', data }] }])).state, ['x', data])
    const image = { type: 'input_image', image_url: png, detail: 'low' }
    t.same(await stateOf([{ role: 'user', content: [image, text('x')] }]), { state: 'x', images: [png] })
    const turns = [
      { role: 'developer', content: [text('Be kind.')] },
      { role: 'user', content: [text('See'), image], type: 'message' },
      {
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'I see.' },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Rome"}' },
      { type: 'function_call_output', call_id: 'c1', output: [text('sunny')] },
    ]
    t.same(await stateOf(turns), {
      state: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: ['See', '[image 1]'] },
        { role: 'assistant', content: ['I see.', 'No.'] },
        { type: 'tool_call', name: 'weather', arguments: '{"city":"Rome"}' },
        { type: 'tool_output', name: 'weather', output: 'sunny' },
      ],
      images: [png],
    })
    gateway.backends.seen = () => {}
  })

  t.test('400 questions, and 255 values', async (t) => {
    const questions = Array.from({ length: 400 }, (_, at) => ({ type: 'predicate', instructions: `Is it ${at}?` }))
    t.equal((await ask({ ...asked, questions })).answers.length, 400)
    const choices = Array.from({ length: 255 }, (_, at) => ({ value: `v${at}` }))
    for (const model of ['sure', 'talker']) {
      const wide = { type: 'choice', instructions: 'Which?', choices }
      const { answers } = await ask({ ...asked, model, questions: [wide] })
      const sum = answers[0].probabilities.reduce((sum: number, backend: any) => sum + backend.probability, 0)
      t.ok(answers[0].probabilities.length === 255 && Math.abs(sum - 1) < 1e-9, model)
    }
  })

  t.test('a backend that declines one question answers the others', async (t) => {
    gateway.backends.declines = (question) => print(question.instructions).includes('money')
    const { answers } = await ask(asked)
    t.same(
      answers.map((backend: any) => [backend.type, backend.name]),
      [
        ['choice', 'team'],
        ['score', null],
        ['refusal', 'refund'],
      ],
    )
    const own = await gateway.decide(body({ q: { ...yes, instructions: 'money?' } }))
    t.same([own.status, own.body.error], [502, 'questions.q: the backend refused to answer'])
    gateway.backends.declines = () => false
  })

  t.test('what is wrong is said in the form of OpenAI', async (t) => {
    const failed = async (more: object, status: number, param: string | null, code: string | null = null) => {
      const error = await ask({ ...asked, ...more }).catch((error: unknown) => error)
      t.match(error, { status, param, code, type: 'invalid_request_error' }, JSON.stringify(more).slice(0, 80))
    }
    const one = (more: object, of: object = team) => ({ questions: [{ ...of, ...more }] })
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
    await failed({ model: 'nobody' }, 404, null, 'model_not_found')
    await failed({ model: '' }, 400, 'model')
    await failed({ input: [] }, 400, 'input')
    await failed({ input: [{ role: 'robot', content: 'x' }] }, 400, 'input.0.role')
    await failed({ input: [{ role: 'user', content: [] }] }, 400, 'input.0.content')
    await failed({ input: [{ role: 'user', content: [{ type: 'input_file' }] }] }, 400, 'input.0.content.0.type')
    const remote = { ...image, image_url: 'https://example.com/a.png' }
    await failed({ input: [{ role: 'user', content: [remote] }] }, 400, 'input.0.content.0.image_url')
    await failed({ input: [{ role: 'user', content: [image] }] }, 400, 'images.0')
    await failed(
      { input: [{ role: 'user', content: [{ type: 'input_json', data: 1 }] }] },
      400,
      'input.0.content.0.data',
    )
    await failed({ input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, 400, 'input.0.call_id')
    await failed({ input: [{ type: 'item_reference', id: 'x' }] }, 400, 'input.0.type')
    await failed({ questions: [] }, 400, 'questions')
    await failed({ questions: Array.from({ length: 401 }, () => refund) }, 400, 'questions')
    await failed(one({ type: 'odd' }), 400, 'questions.0.type')
    await failed(one({ name: 1 }), 400, 'questions.0.name')
    await failed(one({ instructions: [image] }, refund), 400, 'questions.0.instructions.0.image_url')
    await failed(one({ choices: [{ value: 'a' }] }), 400, 'questions.0.choices')
    await failed(
      one({ choices: Array.from({ length: 256 }, (_, at) => ({ value: `${at}` })) }),
      400,
      'questions.0.choices',
    )
    await failed(one({ choices: [{ value: 'a' }, { value: 'a' }] }), 400, 'questions.0.choices.1.value')
    await failed(one({ choices: [{ value: 'a' }, { value: 1 }] }), 400, 'questions.0.choices.1.value')
    await failed(one({ levels: [{ label: 'low' }] }, severity), 400, 'questions.0.levels')
    await failed(one({ levels: [{ label: 'low' }, {}] }, severity), 400, 'questions.0.levels.1.label')
    await failed({ stream: true }, 400, 'stream')
    await failed({ escalate: { below: 1, to: '' } }, 400, 'escalate.to')
    const { credential } = await gateway.gateway.keys.create({ scopes: ['tools.execute'] })
    const scopeless = new OpenAI({ apiKey: credential, baseURL: client.baseURL, maxRetries: 0 })
    await failing(scopeless.post('/decisions', { body: asked }), { status: 403 })
    const crowd = await gateway.crowd(4)
    await failing(ask(asked), { status: 429 })
    await crowd.leave()
  })

  t.test('OpenRouter’s client', async (t) => {
    const router = new OpenRouter({ apiKey: gateway.key, retryConfig: { strategy: 'none' } })
    const questions = {
      team: { type: 'choice' as const, instructions: 'Who?', criteria: { billing: 'Money', other: null } },
      refund: { type: 'noul' as const, instructions: 'Money back?' },
      severity: { type: 'score' as const, instructions: 'How bad?', criteria: ['low', 'high'] },
    }
    const request = { model: 'sure', state: { message: 'Charged twice.' }, questions }
    const create = (decisionsRequest: object) =>
      router.alpha.decisions.create({ decisionsRequest: decisionsRequest as never }, { serverURL: gateway.base })
    const answer: any = await create({ ...request, provider: { order: ['mind'] }, user: 'somebody' })
    t.match(answer, {
      id: uuid7,
      model: 'sure',
      provider: 'mind',
      answers: { team: { type: 'choice', choice: String }, refund: { noul: Number }, severity: { score: Number } },
      usage: { inputTokens: 12, outputTokens: 1 },
    })
    const posted = await gateway.decide({ ...request, provider: { order: [] }, trace: {} }, {}, '/api/alpha/decisions')
    t.equal(posted.headers.get('x-sealgate-dropped'), 'provider, trace')
    await failing(create({ ...request, questions: {} }), {
      statusCode: 400,
      error: { code: 400, message: /questions/ },
    })
    await failing(create({ ...request, model: 'nobody' }), { statusCode: 404 })
    const pinned = await gateway.decide({ ...request, provider: 'elsewhere' }, {}, '/api/alpha/decisions')
    t.same([pinned.status, pinned.body.error.code], [400, 400])
  })
})

t.test('what the interface says', async (t) => {
  const gateway = await house(t)
  const refused = async (
    t: Test,
    sent: unknown,
    status: number,
    more: object = {},
    headers: Record<string, string> = {},
  ) => {
    const answer = await gateway.decide(sent, headers)
    t.equal(answer.status, status, answer.text.slice(0, 200))
    t.same(Object.keys(answer.body), fields, 'no extra properties')
    t.match(answer.body, {
      status,
      data: null,
      message: null,
      env: 'development',
      log: { request_id: uuid7 },
      support_id: uuid7,
      ...more,
    })
    t.equal(answer.headers.get('x-typesafe-request-id'), answer.body.support_id)
    return answer
  }

  t.test('labels and ids, byte for byte and in order', async (t) => {
    const asked =
      '{"model":"sure","state":null,"questions":{"b":{"type":"choice","criteria":{"10":null,"2":"two","b":null,"__proto__":null,"constructor":null}},' +
      '"__proto__":{"type":"noul"},"10":{"type":"score","criteria":["low","high"]},"constructor":{"type":"noul"},"2":{"type":"noul"}}}'
    const { status, text } = await gateway.decide(asked)
    t.equal(status, 200)
    const number = '[0-9.e-]+'
    const noul = `\\{"type":"noul","noul":${number}\\}`
    const shares = ['10', '2', 'b', '__proto__', 'constructor'].map((label) => `"${label}":${number}`).join()
    const score = `\\{"type":"score","score":${number},"legend":\\{"0":"low","1":"high"\\},"probabilities":\\{"0":${number},"1":${number}\\},"confidence":${number}\\}`
    t.match(
      text,
      new RegExp(
        `^\\{"model":"sure","answers":\\{"b":\\{"type":"choice","choice":"[^"]+","probabilities":\\{${shares}\\},"confidence":${number}\\},"__proto__":${noul},"10":${score},"constructor":${noul},"2":${noul}\\},"usage":`,
      ),
    )
    const digits = [...text.matchAll(/"(?:10|2|b)":(0\.\d+)/g)].map((match) => match[1]!.length)
    t.ok(Math.max(...digits) > 14, 'nothing is rounded')
    for (const twice of [
      '{"model":"sure","model":"sure","state":1,"questions":{"q":{"type":"noul"}}}',
      asked.replace('"2":"two"', '"10":"two"'),
    ]) {
      await refused(t, twice, 400, { error: /twice/ })
    }
  })

  t.test('401, 403 and 404', async (t) => {
    await refused(t, body(), 401, { error: String }, { authorization: 'Bearer sk_live_nobody' })
    const { credential } = await gateway.gateway.keys.create({ scopes: ['tools.execute', 'api_key.read'] })
    await refused(t, body(), 403, { error: String }, { authorization: `Bearer ${credential}` })
    await refused(t, body(undefined, { model: 'nobody' }), 404, { error: /model/ })
    const { credential: narrow } = await gateway.gateway.keys.create({ models: ['talker'] })
    await refused(t, body(), 404, {}, { authorization: `Bearer ${narrow}` })
    const { data, models: named } = (await (
      await gateway.call('GET', '/compat/v1/models', undefined, { authorization: `Bearer ${narrow}` })
    ).json()) as any
    t.same(
      [data.map((backend: any) => backend.model), named.map((backend: any) => backend.name)],
      [['talker'], ['talker']],
    )
    t.equal((await fetch(`${gateway.base}/compat/v1/models`)).status, 401)
  })

  t.test('400, and what was expected where', async (t) => {
    const media = { images: ['data:image/png;base64,AAAA'], videos: ['data:video/mp4;base64,AAAA'] }
    const cases: readonly [more: object, validator: object][] = [
      [{ model: 'chatty' }, { model: String }],
      [{ model: 'sealed' }, { model: String }],
      [{ images: media.images }, { 'images.0': String }],
      [{ videos: media.videos }, { 'videos.0': String }],
      [{ videos: ['data:video/mp4;codecs=avc1;base64,AAAA'] }, { 'videos.0': /data URL of an MP4/ }],
      [{ videos: ['data:video/MP4;base64,AAAA'] }, { 'videos.0': /data URL of an MP4/ }],
      [
        { samples: 33, steps: 0 },
        { samples: /1 to 32/, steps: /1 to 8/ },
      ],
      [{ provider: 'elsewhere' }, { provider: /mind/ }],
    ]
    for (const [more, validator] of cases) {
      await refused(t, body(undefined, more), 400, { error: String, validator })
      const detailed = await gateway.decide(body(undefined, more), {}, '/compat/v1/systemone')
      t.equal(detailed.status, 422)
      t.same(Object.keys(detailed.body), ['detail'])
      t.match(detailed.body.detail, [{ loc: ['body'], msg: String, type: 'value_error' }])
    }
    t.match((await gateway.decide(body(undefined, { model: 'chatty' }))).body.error, /\/std\/chat\/completions/)
    const under = await house(t, { prefix: '/ai' })
    const told = await under.decide(body(undefined, { model: 'chatty' }), {}, '/ai/compat/v1/decision')
    t.match(told.body.error, 'send it to /ai/std/chat/completions', 'with the prefix of the gateway')
    await refused(t, '{"model"', 400, { error: 'Malformed JSON' })
    await refused(t, '[]', 400, { validator: { body: String } })
    const malformed = await gateway.decide('{"model"', {}, '/compat/v1/systemone')
    t.same(
      [malformed.status, malformed.body],
      [400, { detail: { error_type: 'invalid_request', message: 'Malformed JSON' } }],
    )
    const lost = await gateway.decide(body(), {}, '/compat/v1/v1/systemone')
    t.equal(lost.status, 404)
    t.match(lost.body.error, /base URL ends in \/compat/)
  })

  t.test('429, and when to come again', async (t) => {
    const crowd = await gateway.crowd(4)
    const waits: number[] = []
    for (let times = 0; times < 6; times++) {
      const { headers } = await refused(t, body(), 429, { error: 'Too many concurrent requests', validator: null })
      const ms = Number(headers.get('retry-after-ms'))
      t.ok(Number.isInteger(ms) && ms > 0)
      t.equal(headers.get('retry-after'), `${Math.ceil(ms / 1000)}`)
      waits.push(ms)
    }
    t.ok(waits[5]! > waits[0]!, `it grows with the number waiting: ${waits}`)
    const { credential } = await gateway.gateway.keys.create({})
    t.equal(
      (await gateway.decide(body(), { authorization: `Bearer ${credential}` })).status,
      200,
      'places are a key’s own',
    )
    await crowd.leave()
    await gateway.quiet()
  })
})

t.test('503 while no backend may be asked', async (t) => {
  const gateway = await house(t, { routing: { retries: 0, breaker: { faults: 1, rest: 60_000 } } })
  gateway.backends.before = () => Promise.reject(new UpstreamFailed(undefined, { again: true, answered: 500 }))
  t.equal((await gateway.decide(body())).status, 503)
  const answer = await gateway.decide(body())
  t.equal(answer.status, 503)
  t.same(Object.keys(answer.body), fields)
  t.match(answer.body, { error: 'Service temporarily unavailable' })
  t.ok(Number(answer.headers.get('retry-after')) > 0)
  const detailed = await gateway.decide(body(), {}, '/compat/v1/systemone')
  t.same([detailed.status, detailed.body.detail.error_type], [503, 'unavailable'])
})

t.test('a client that leaves', async (t) => {
  const gateway = await house(t)
  const crowd = await gateway.crowd(4)
  t.equal((await gateway.decide(body())).status, 429)
  const left = performance.now()
  await crowd.leave()
  t.ok(await until(() => gateway.backends.running === 0))
  const ms = (gateway.backends.stopped - left) / slowness()
  t.ok(ms < 1000, `the backend is told after ${ms.toFixed(0)} ms`)
  t.ok(await until(async () => (await gateway.decide(body())).status === 200), 'and the places are free')
  // A client that has already gone when its body is read.
  const socket = connect(Number(new URL(gateway.base).port), '127.0.0.1')
  const text = JSON.stringify(body())
  socket.write(
    `POST /compat/v1/decision HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${text.length + 1}\r\n\r\n${text}`,
  )
  await once(socket, 'connect')
  await sleep(50)
  socket.destroy()
  await sleep(50)
  t.equal((await gateway.decide(body())).status, 200)
  t.equal(gateway.backends.running, 0)
})

t.test('its own deadline', async (t) => {
  const gateway = await house(t, { timeouts: { decision: 300 } })
  gateway.backends.before = hang
  const began = performance.now()
  const { status, body: refusal } = await gateway.decide(body())
  const ms = performance.now() - began
  t.ok(status === 502 || status === 503, `${status}`)
  t.same(Object.keys(refusal), fields)
  t.ok(ms >= 290 && ms / slowness() < 1000, `${ms.toFixed(0)} ms`)
  t.ok(await until(() => gateway.backends.running === 0))
})

t.test('sixteen questions of a chat backend', async (t) => {
  const gateway = await house(t)
  const questions = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `q${at}`,
        { type: 'choice', instructions: `Question ${at}?`, criteria: { a: null, b: null } },
      ]),
    )
  // Each call of the backend is answered when as many are under way as there are questions: one behind another would wait for ever.
  const together = (count: number): Backends['before'] => {
    const [gathered, all] = gate()
    return async (_, signal) => {
      if (gateway.backends.running === count) all()
      await Promise.race([gathered, hang(_, signal)])
    }
  }
  for (const count of [1, 16]) {
    gateway.backends.before = together(count)
    t.equal((await gateway.decide(body(questions(count), { model: 'talker' }))).status, 200, `${count} at once`)
  }

  let ended = 0
  gateway.backends.before = (what, signal) => {
    if (JSON.stringify(what).includes('Question 7?'))
      return Promise.reject(new UpstreamFailed(undefined, { validator: { 7: 'the backend refused to answer' } }))
    return hang(what, signal).catch((reason: unknown) => {
      ended++
      throw reason
    })
  }
  const { status, body: refusal } = await gateway.decide(body(questions(16), { model: 'talker' }))
  t.same([status, refusal.error], [502, 'questions.q7: the backend refused to answer'])
  t.equal(ended, 15, 'one that fails ends the others')
})

t.test('no bad input is our fault', async (t) => {
  const runs = isWhole ? 20_000 : 3_000
  const gateway = await house(t, { decision: { places: 1000 } })
  const words = fc.oneof(fc.constantFrom(null, 'x', ['y']), fc.string({ maxLength: 4 }))
  const question = fc.oneof(
    fc.record({ type: fc.constant('choice'), instructions: words, criteria: mapsOf(words, 27) }),
    fc.constantFrom<unknown>(yes, ...Object.values(ticket.questions)),
    fc.record({ type: fc.constant('noul'), criteria: fc.constantFrom(undefined, null, {}, { true: 'x' }, { no: 1 }) }),
    fc.record({ type: fc.constant('score'), criteria: fc.array(words, { maxLength: 11 }) }),
    fc.record({ type: oddValues, instructions: oddValues, criteria: oddValues }, { requiredKeys: [] }),
  )
  const sound = fc.record({
    model: fc.constantFrom('sure', 'jev-latest'),
    state: oddValues,
    questions: mapsOf(question, 4),
  })
  const wrong = fc.record(
    {
      model: oddValues,
      state: oddValues,
      questions: oddValues,
      ...oddMembers('images', 'videos', 'samples', 'steps', 'provider', 'stream'),
    },
    { requiredKeys: [] },
  )
  const cut = fc.tuple(sound, fc.double({ min: 0, max: 1, noNaN: true })).map(([backend, share]) => {
    const text = print(backend)
    return text.slice(0, Math.floor(share * text.length))
  })
  const text = fc.oneof(
    { weight: 4, arbitrary: sound.map(print) },
    { weight: 4, arbitrary: fc.tuple(sound, wrong).map(([one, other]) => print({ ...one, ...other })) },
    { weight: 1, arbitrary: cut },
    { weight: 1, arbitrary: fc.oneof(oddValues.map(print), fc.string()) },
  )
  const pool = new Pool(gateway.base, { connections: 16 })
  t.teardown(() => pool.close())
  const bodies = fc.sample(text, { seed, numRuns: runs })
  const counts = new Map<number, number>()
  const began = performance.now()
  let next = 0
  const worker = async () => {
    while (next < runs) {
      const at = next++
      const { statusCode, body: answer } = await pool.request({
        method: 'POST',
        path: at % 4 === 0 ? '/compat/v1/systemone' : '/compat/v1/decision',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: bodies[at]!,
      })
      const text = await answer.text()
      counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1)
      if (![200, 400, 404, 422].includes(statusCode))
        t.fail(`${statusCode} for ${bodies[at]!.slice(0, 200)}: ${text.slice(0, 200)}`)
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  t.comment(
    `SEALGATE_SEED=${seed}: ${runs} bodies in ${((performance.now() - began) / 1000).toFixed(1)} s: ${[...counts].map(([status, count]) => `${count} × ${status}`).join(', ')}`,
  )
  t.equal(
    [...counts.values()].reduce((sum, value) => sum + value),
    runs,
  )
  for (const status of [200, 400, 422]) t.ok((counts.get(status) ?? 0) > runs / 100, `${status} is among the answers`)
})

t.test('a name that no model has stops the boot', async (t) => {
  const { upstreams } = backends()
  const boot = (decision: SettingsInput['decision'], given = models) => {
    const made = createGateway({ ...memory(), upstreams }, { models: given, decision })
    return made.close()
  }
  t.throws(() => boot({ default: 'nobody' }), { message: /^decision\.default / })
  t.throws(() => boot({ aliases: { small: 'sure', 'jev-latest': 'toString' } }), {
    message: /^decision\.aliases\.jev-latest /,
  })
  t.throws(() => boot({ escalate: { below: 0.5, to: 'nobody' } }), { message: /^decision\.escalate\.to / })
  await boot({ default: 'sure', aliases: { small: 'talker' }, escalate: { below: 0.5, to: 'talker' } })
  await boot({ default: 'nobody' }, {})
})
