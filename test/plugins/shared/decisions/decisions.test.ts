import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { log } from '../../../../adapters/memory/platform.ts'
import { sectionShapes } from '../../../../adapters/memory/sections.ts'
import type { Caller } from '../../../../core/access/caller.ts'
import type { Fitting } from '../../../../core/container.ts'
import { asksAnything, parseDecisions, printDecisions } from '../../../../plugins/shared/decisions/decisions.ts'
import { print, readOrdered } from '../../../../core/dialects/json.ts'
import { isRefused, normalised, refusal } from '../../../../plugins/shared/decisions/probabilities.ts'
import { parseSystemOne, printSystemOne, stateWithImages } from '../../../../plugins/shared/decisions/systemone.ts'
import { printDetail } from '../../../../plugins/shared/decisions/typed-decision-answer.ts'
import { parseDecision } from '../../../../plugins/shared/decisions/typed-decision.ts'
import { proseOf } from '../../../../plugins/providers/shared/similarity.ts'
import { BadRequest, GatewayError, NotFound, UpstreamFailed } from '../../../../core/errors.ts'
import type { Request } from '../../../../core/http/route.ts'
import {
  answerOf,
  checkDistribution,
  confidenceOf,
  measure,
} from '../../../../plugins/shared/decisions/decision-answer.ts'
import { decideByChat } from '../../../../plugins/shared/decisions/decide-by-chat.ts'
import { Inference, inference } from '../../../../core/inference/inference.ts'
import type { Catalog } from '../../../../core/inference/models/catalog.ts'
import { type Entry, entryOf } from '../../../../core/inference/models/catalog-entry.ts'
import { candidateOf } from '../../../../plugins/shared/models/candidate.ts'
import { average, ordersOf } from '../../../../plugins/shared/decisions/label-orders.ts'
import { plugin, use } from '../../../../core/plugin.ts'
import { Clock, Random } from '../../../../core/ports/platform.ts'
import type {
  ChatBody,
  ChatCall,
  Completion,
  DecideCall,
  OrderedJson,
  Question,
  Upstream,
} from '../../../../core/ports/upstream.ts'
import { decisionRoutes } from '../../../../plugins/surfaces/decision/decision.ts'
import { type ModelInput, Settings, SettingsShape, type SettingsInput } from '../../../../core/settings.ts'
import { checkedModel } from '../../../fakes/checked-settings.ts'
import { made } from '../../../fitted.ts'
import { quietClock } from '../../../slowness.ts'

const choice = (labels: readonly string[], instructions: OrderedJson = 'Which?'): Question => ({
  type: 'choice',
  instructions,
  options: labels.map((label) => ({ label, description: null })),
})
const noul: Question = { type: 'noul', instructions: 'Is it so?', yes: null, no: null }
const score = (...levels: OrderedJson[]): Question => ({ type: 'score', instructions: 'How much?', levels })
const never = new AbortController().signal
const callOf = (...questions: Question[]): DecideCall => ({
  model: 'm',
  state: 'A state.',
  questions,
  images: [],
  samples: null,
  steps: null,
})

const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 }
const completion = (
  content: string | null,
  top: readonly [token: string, probability: number][] | null,
): Completion => ({
  id: 'c',
  object: 'chat.completion',
  created: 0,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content },
      finish_reason: 'length',
      logprobs: top && {
        content: [
          {
            token: top[0]?.[0] ?? '',
            logprob: Math.log(top[0]?.[1] ?? 1),
            top_logprobs: top.map(([token, p]) => ({ token, logprob: Math.log(p) })),
          },
        ],
      },
    },
  ],
  usage,
})

const textOf = ({ messages }: ChatBody): string => {
  const content = messages[0]!.content!
  return typeof content === 'string' ? content : (content.at(-1)!.text ?? '')
}
/** The marks that a prompt shows, with what stands behind them. */
const shownIn = (text: string) =>
  [...text.matchAll(/^([A-Z]|\d|yes|no)(?:: (.*))?$/gm)].map((match) => ({
    mark: match[1]!,
    says: match[2] ?? match[1]!,
  }))

/** A chat backend whose opinion rests on what a label says and what surrounds it, never on its letter. */
const chatting = (reply: (body: ChatBody, signal: AbortSignal) => Completion | Promise<Completion>, name = 'chat') => {
  const calls: ChatCall[] = []
  const upstream: Upstream & Required<Pick<Upstream, 'chat'>> = {
    name,
    models: async () => [],
    async chat(call, signal) {
      calls.push(call)
      return { kind: 'completion', completion: await reply(call.body, signal) }
    },
  }
  return { upstream, calls }
}
const weightOf = (text: string) => 1 + createHash('sha256').update(text).digest().readUInt16BE(0)
const opinion = (body: ChatBody): Completion => {
  const text = textOf(body)
  const question = text.split('\n').slice(0, 3).join('\n')
  const shown = shownIn(text).map(({ mark, says }) => [mark, weightOf(question + says)] as [string, number])
  const sum = shown.reduce((sum, [, weight]) => sum + weight, 0)
  return completion(
    'A',
    shown.map(([mark, weight]) => [mark, (0.9 * weight) / sum] as [string, number]).sort((a, b) => b[1] - a[1]),
  )
}

/** What an error must be, to the letter of its class. */
const fault = (constructor: new (...given: any[]) => Error, more: object = {}) => ({
  message: /^/,
  constructor,
  ...more,
})

const clock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  alarm(ms, ring) {
    let timer = setTimeout(ring, ms)
    return {
      again() {
        clearTimeout(timer)
        timer = setTimeout(ring, ms)
      },
      off: () => clearTimeout(timer),
    }
  },
}
const fitting = <T>(port: Fitting<T>['port'], given: T) => use(plugin({ port, name: port.name, create: () => given }))

const caller: Caller = {
  key: 'k',
  organization: 'o',
  user: 'u',
  scopes: ['chats.completion'],
  models: null,
  limits: {},
}
const model = (name: string, upstreams: readonly Upstream[], given: Partial<ModelInput> = {}): Entry =>
  entryOf(
    name,
    checkedModel({ upstreams: upstreams.map(({ name }) => ({ provider: name })), ...given }),
    upstreams.map((upstream, index) => candidateOf(upstream, `${name}-there`, { priority: index + 1 })),
  )

/** A gateway's worth of ports around the routes, without the gateway. */
const house = (entries: readonly Entry[], given: SettingsInput = {}) => {
  const settings = v.parse(v.strictObject({ ...SettingsShape.entries, ...sectionShapes }), {
    routing: { retries: 0 },
    ...given,
  })
  const settled: unknown[] = []
  const supplied = {
    settings,
    clock,
    catalog: {
      find: async (name) => entries.find((entry) => entry.name === name) ?? null,
      list: async () => entries,
      recall: () => null,
      isWhole: () => true,
    } satisfies Catalog,
    inference: made(
      Inference,
      ...[use(inference), use(log)],
      fitting(Settings, settings),
      fitting(Clock, clock),
      fitting(Random, { bytes: (length) => new Uint8Array(length), fraction: () => 0.5 }),
    ),
    meter: {
      reserve: async (_: Caller, entry: Entry) => ({
        headers: { 'x-ratelimit-limit-tokens': '5' },
        began() {},
        cancel: async () => {},
        async settle(usage: unknown, backend: string | null) {
          settled.push([entry.name, usage, backend])
        },
      }),
      spendAudio: () => Promise.reject(new Error('not here')),
      open: () => Promise.reject(new Error('not here')),
      book: () => Promise.reject(new Error('not here')),
      keep: () => {},
      waits: () => {},
      dispose: async () => {},
    },
  }
  const request = (input: unknown, by: Caller, signal: AbortSignal) =>
    ({
      id: 'r',
      input,
      query: undefined,
      params: {},
      caller: by,
      header: () => null,
      bytes: [],
      signal,
    }) as unknown as Request<any, any, Caller>
  return {
    settled,
    async decide(body: unknown, { by = caller, signal = never, route = 0 as 0 | 1 } = {}) {
      const input = parseDecision(readOrdered(typeof body === 'string' ? body : JSON.stringify(body)))
      const reply = await decisionRoutes[route].handle(request(input, by, signal), supplied)
      if (reply.kind !== 'json') throw new Error('no JSON')
      const text = print(reply.body)
      return { reply, text, body: JSON.parse(text), ordered: readOrdered(text) as ReadonlyMap<string, any> }
    },
    async models(by = caller) {
      const reply = await decisionRoutes[2].handle(request(undefined, by, never), supplied)
      return reply.kind === 'json' ? (reply.body as any) : null
    },
  }
}
const ask1 = { type: 'noul', instructions: 'Is it?' }

t.test('formulas', async (t) => {
  const close = (t: Test, one: number, other: number) => t.ok(Math.abs(one - other) < 1e-12, `${one} is ${other}`)

  t.test('choice, noul and score by hand', async (t) => {
    const picked = answerOf(choice(['10', '2', 'b']), { probabilities: [0.2, 0.7, 0.1] })
    t.match(picked, { type: 'choice', choice: '2' })
    close(t, picked.type === 'choice' ? picked.confidence : NaN, (0.7 - 1 / 3) / (1 - 1 / 3))
    t.same(answerOf(noul, { probabilities: [0.3, 0.7] }), { type: 'noul', noul: 0.3 })
    const scored = answerOf(score('low', null, { top: 1 } as never), { probabilities: [0.1, 0.1, 0.8] })
    if (scored.type !== 'score') throw new Error('no score')
    close(t, scored.score, 1.7)
    // mode 2: spread 0.1·2 + 0.1·1 = 0.3, even spread (1+0+1)/3
    close(t, scored.confidence, 1 - 0.3 / (2 / 3))
    t.same(
      [...scored.legend],
      [
        ['0', 'low'],
        ['1', '1'],
        ['2', { top: 1 }],
      ],
    )
    t.same([...scored.probabilities.keys()], ['0', '1', '2'])
    t.match(
      answerOf(choice(['a', 'b']), { probabilities: [0.5, 0.5] }),
      { choice: 'a', confidence: 0 },
      'the first on ties',
    )
    t.match(answerOf(choice(['only']), { probabilities: [1] }), { choice: 'only', confidence: 1 })
    t.equal(confidenceOf(score(1, 2, 3), { probabilities: [0.5, 0, 0.5] }), 0, 'never below 0')
  })

  t.test('invariants of every distribution', async () => {
    const weights = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 10 })
    fc.assert(
      fc.property(weights, (weights) => {
        const sum = weights.reduce((sum, weight) => sum + weight, 0)
        fc.pre(sum > 1e-9)
        const probabilities = weights.map((weight) => weight / sum)
        for (const question of [
          choice(weights.map((_, index) => `l${index}`)),
          score(...weights.map((_, index) => `l${index}`)),
        ]) {
          const given = checkDistribution(question, { probabilities }, 0)
          const answer = answerOf(question, given)
          const confidence = confidenceOf(question, given)
          if (!(confidence >= 0 && confidence <= 1 + 1e-12)) throw new Error(`confidence ${confidence}`)
          if (answer.type === 'score' && !(answer.score >= 0 && answer.score <= weights.length - 1))
            throw new Error('score')
          if (answer.type === 'choice' && answer.probabilities.get(answer.choice) !== Math.max(...probabilities))
            throw new Error('argmax')
          const { entropy } = measure(given)
          if (!(entropy >= 0 && entropy <= Math.log(weights.length) + 1e-9)) throw new Error('entropy')
        }
      }),
      { numRuns: 2000 },
    )
  })

  t.test('what is no distribution is refused, never mended', async (t) => {
    for (const probabilities of [
      [0.5],
      [0.5, 0.4],
      [1.2, -0.2],
      [NaN, 1],
      [Infinity, 0],
      ['1', 0],
      null,
      [0.5, 0.500003],
    ]) {
      const given = { probabilities } as never
      t.throws(() => checkDistribution(noul, given, 3), fault(UpstreamFailed, { validator: { 3: /no valid answer/ } }))
    }
    t.throws(() => checkDistribution(noul, undefined, 0), UpstreamFailed)
    t.match(measure({ probabilities: [1, 0], labelMass: 0.3 }), { unreliable: true, label_mass: 0.3, entropy: 0 })
    t.notOk('unreliable' in measure({ probabilities: [1, 0], labelMass: 0.5 }))
  })

  t.test('rounded probabilities are allowed half a unit of their last digit', async (t) => {
    t.same(normalised([0.25, 0.75]), [0.25, 0.75], 'and untouched where nothing is off')
    t.ok(normalised([0.33, 0.33, 0.33])!.every((value) => Math.abs(value - 1 / 3) < 1e-15))
    t.same(normalised([0.1, 0.2, 0.7]), [0.1, 0.2, 0.7])
    t.equal(normalised([0.3, 0.3, 0.3]), null)
    t.equal(normalised([1, 1]), null)
    t.equal(normalised([0.3333, 0.3333, 0.33]), null, 'four digits leave less room')
    t.equal(normalised([0.123456789, 0.8765]), null)
    t.equal(normalised([1e-7, 0.9]), null)
    t.equal(normalised([]), null)
    t.equal(normalised([0.5, '0.5']), null)
  })
})

t.test('parse', async (t) => {
  const base = { model: 'm', state: null, questions: { q: ask1 } }
  const flawed = (t: Test, body: unknown, path: string, expected: RegExp) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    try {
      parseDecision(readOrdered(text))
      t.fail(`accepted ${text.slice(0, 100)}`)
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      t.match(error.validator?.[path], expected, path)
      t.match(error.message, /^[^:]+: expected/, 'the first is said aloud')
    }
  }
  const of = (question: unknown) => ({ ...base, questions: { q1: question } })
  const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${index}`, null]))
  const png = 'data:image/png;base64,AA=='
  const mp4 = 'data:video/mp4;base64,AA=='

  t.test('what is refused, and where', async (t) => {
    const table: readonly [body: unknown, path: string, expected: RegExp][] = [
      ['[]', 'body', /object/],
      ['null', 'body', /object/],
      [{ ...base, model: undefined }, 'model', /model/],
      [{ ...base, model: '' }, 'model', /model/],
      [{ ...base, model: 4.5 }, 'model', /model/],
      [{ model: 'm', questions: base.questions }, 'state', /any JSON/],
      [{ ...base, questions: {} }, 'questions', /1 to 16/],
      [{ ...base, questions: [] }, 'questions', /map/],
      [
        { ...base, questions: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`q${i}`, ask1])) },
        'questions',
        /1 to 16/,
      ],
      [{ ...base, questions: { '': ask1 } }, 'questions', /one character/],
      [of('text'), 'questions.q1', /object/],
      [of({ type: 'box' }), 'questions.q1.type', /choice, noul or score/],
      [of({}), 'questions.q1.type', /choice, noul or score/],
      [of({ ...ask1, instructions: 5 }), 'questions.q1.instructions', /string, object, array or null/],
      [of({ ...ask1, instructions: true }), 'questions.q1.instructions', /string/],
      [of({ ...ask1, criteria: [] }), 'questions.q1.criteria', /true, false/],
      [of({ ...ask1, criteria: { yes: 'x' } }), 'questions.q1.criteria', /true and false/],
      [of({ ...ask1, criteria: { true: 1 } }), 'questions.q1.criteria.true', /string/],
      [of({ type: 'choice' }), 'questions.q1.criteria', /1 to 26/],
      [of({ type: 'choice', criteria: {} }), 'questions.q1.criteria', /1 to 26/],
      [of({ type: 'choice', criteria: labels(27) }), 'questions.q1.criteria', /1 to 26/],
      [of({ type: 'choice', criteria: ['a', 'b'] }), 'questions.q1.criteria', /not a list/],
      [of({ type: 'choice', criteria: { '': 'x' } }), 'questions.q1.criteria', /one character/],
      [of({ type: 'choice', criteria: { a: 1 } }), 'questions.q1.criteria.a', /string/],
      [of({ type: 'score', criteria: { 0: 'low', 1: 'high' } }), 'questions.q1.criteria', /a list, not a map/],
      [of({ type: 'score', criteria: ['one'] }), 'questions.q1.criteria', /2 to 10/],
      [of({ type: 'score', criteria: Array(11).fill('x') }), 'questions.q1.criteria', /2 to 10/],
      [of({ type: 'score', criteria: ['low', 2] }), 'questions.q1.criteria.1', /string/],
      [of({ type: 'score' }), 'questions.q1.criteria', /2 to 10/],
      [{ ...base, images: [png, png] }, 'images', /one item/],
      [{ ...base, images: png }, 'images', /one item/],
      [{ ...base, images: ['https://example.com/a.png'] }, 'images.0', /data URL/],
      [{ ...base, images: ['data:image/svg+xml;base64,AA=='] }, 'images.0', /data URL/],
      [{ ...base, images: [4] }, 'images.0', /data URL/],
      [{ ...base, videos: [mp4, mp4] }, 'videos', /one item/],
      [{ ...base, videos: ['data:video/webm;base64,AA=='] }, 'videos.0', /MP4/],
      [{ ...base, images: [png], videos: [mp4] }, 'videos', /beside an image/],
      [{ ...base, samples: 0 }, 'samples', /1 to 32/],
      [{ ...base, samples: 33 }, 'samples', /1 to 32/],
      [{ ...base, samples: 1.5 }, 'samples', /whole/],
      [{ ...base, samples: '3' }, 'samples', /whole/],
      [{ ...base, steps: 9 }, 'steps', /1 to 8/],
      [{ ...base, provider: 'Upper' }, 'provider', /lower-case/],
      [{ ...base, provider: 'a'.repeat(65) }, 'provider', /64/],
      [{ ...base, provider: '-a' }, 'provider', /lower-case/],
      [{ ...base, stream: true }, 'stream', /no stream/],
      [{ ...base, stream: {} }, 'stream', /no stream/],
    ]
    for (const [body, path, expected] of table) flawed(t, body, path, expected)
  })

  t.test('what is accepted', async (t) => {
    const full = {
      ...base,
      provider: 'local-1',
      samples: 32,
      steps: 8,
      stream: false,
      unknown: { kept: 'out' },
      images: [png],
      videos: [],
      questions: {
        a: { type: 'choice', criteria: labels(26), instructions: { deep: ['x'] } },
        b: { type: 'noul', instructions: null, criteria: null },
        c: { type: 'noul', criteria: { false: ['never'] }, extra: 1 },
        d: { type: 'score', criteria: [null, 'x', { y: 1 }] },
      },
    }
    const request = parseDecision(readOrdered(JSON.stringify(full)))
    t.equal(request.questions.length, 4)
    t.match(request, { provider: 'local-1', samples: 32, steps: 8, images: [png], videos: [] })
    t.match(request.questions[2]!.question, { type: 'noul', instructions: null, yes: null, no: ['never'] })
    for (const absent of [
      { samples: null },
      { steps: null },
      { provider: null },
      { images: null },
      { videos: null },
      { stream: 0 },
    ]) {
      t.ok(parseDecision(readOrdered(JSON.stringify({ ...base, ...absent }))))
    }
  })

  t.test('values are never echoed, and paths are cut', async (t) => {
    const id = 'i'.repeat(300)
    const body = { ...base, model: -7, provider: 'SECRET', questions: { [id]: { type: 'SECRET', instructions: 5 } } }
    try {
      parseDecision(readOrdered(JSON.stringify(body)))
      t.fail('accepted')
    } catch (error) {
      const { message, validator } = error as BadRequest
      t.notMatch(message + JSON.stringify(validator), /SECRET/)
      t.ok(Object.keys(validator!).every((path) => path.length <= 100))
      const { status, body } = printDetail(error as BadRequest)
      t.equal(status, 422)
      t.match(body, { detail: [{ loc: ['body', 'model'], msg: /expected/, type: 'value_error' }] })
    }
    const hostile = '{"model":"m","state":1,"questions":{"__proto__":{"type":"x"},"constructor":{"type":"y"}}}'
    flawed(t, hostile, 'questions.__proto__.type', /choice/)
    flawed(t, hostile, 'questions.constructor.type', /choice/)
  })

  t.test('numbers that JavaScript does not hold reach the model digit by digit', async (t) => {
    const long = '{"id":1234567890123456789,"wide":1e400,"list":[-9007199254740993]}'
    const text = `{"model":"m","state":${long},"questions":{"q":{"type":"noul","instructions":${long},"criteria":{"true":[18446744073709551615]}}}}`
    const { state, questions } = parseDecision(readOrdered(text))
    const { upstream, calls } = chatting(opinion)
    const call = { ...callOf(questions[0]!.question), state }
    await decideByChat(upstream, call, 1, never)
    const lines = textOf(calls[0]!.body).split('\n')
    t.same(lines.slice(0, 4), [long, '', long, 'yes: [18446744073709551615]'])
    for (const printed of [printSystemOne(call), printDecisions(call)]) t.match(printed, '1234567890123456789')
    t.equal(proseOf(state), 'id: 1234567890123456789. wide: 1e400. list: -9007199254740993')
    const bare = text.replace(`"instructions":${long}`, '"instructions":12345678901234567890')
    const told = fault(BadRequest, { validator: { 'questions.q.instructions': /expected a string/ } })
    t.throws(() => parseDecision(readOrdered(bare)), told)
  })

  t.test('order and names survive byte for byte', async (t) => {
    const text =
      '{"model":"m","state":{"z":1,"10":2,"2":3},"questions":{"10":{"type":"choice","criteria":{"10":null,"2":"x","b":null,"__proto__":null}},"__proto__":{"type":"noul"},"2":{"type":"score","criteria":["a","b"]}}}'
    const { questions, state } = parseDecision(readOrdered(text))
    t.same(
      questions.map(({ id }) => id),
      ['10', '__proto__', '2'],
    )
    const [first] = questions
    t.same(first!.question.type === 'choice' && first!.question.options.map(({ label }) => label), [
      '10',
      '2',
      'b',
      '__proto__',
    ])
    t.equal(print(state), '{"z":1,"10":2,"2":3}')
    t.throws(() => readOrdered('{"questions":{"a":1,"a":2}}'), BadRequest)
  })
})

t.test('backends of the System-One form', async (t) => {
  const hostile = choice(['10', '2', 'b', '__proto__'])
  const call = callOf(hostile, { ...noul, yes: 'it is' } as Question, score('low', null))
  const answers = (...texts: string[]) =>
    `{"answers":{${texts.map((text, index) => `"q${index + 1}":${text}`).join()}},"usage":{"input_tokens":7,"output_tokens":2}}`
  const good = answers(
    '{"type":"choice","choice":"b","probabilities":{"2":0.2,"10":0.1,"__proto__":0.3,"b":0.4},"x_label_mass":0.9}',
    '{"type":"noul","noul":0.25}',
    '{"type":"score","score":1,"probabilities":{"0":0.5,"1":0.5}}',
  )

  t.test('asks in order and without ids', async (t) => {
    t.equal(
      printSystemOne(call),
      '{"model":"m","state":"A state.","questions":{"q1":{"type":"choice","instructions":"Which?","criteria":{"10":null,"2":null,"b":null,"__proto__":null}},' +
        '"q2":{"type":"noul","instructions":"Is it so?","criteria":{"true":"it is"}},"q3":{"type":"score","instructions":"How much?","criteria":["low",null]}}}',
    )
    t.match(
      printSystemOne({ ...call, questions: [noul] }, { images: ['x'] }),
      /"q1":\{"type":"noul","instructions":"Is it so\?"\}\},"images":\["x"\]/,
    )
    t.same(stateWithImages({ state: 'x', images: ['data:a'] }), [
      { type: 'image_url', image_url: { url: 'data:a' } },
      'x',
    ])
    t.equal(stateWithImages({ state: 'x', images: [] }), 'x')
  })

  t.test('reads the answers in our order', async (t) => {
    const { distributions, usage } = parseSystemOne(good, call.questions)
    t.same(distributions, [
      { probabilities: [0.1, 0.2, 0.4, 0.3], labelMass: 0.9 },
      { probabilities: [0.25, 0.75] },
      { probabilities: [0.5, 0.5] },
    ])
    t.same(usage, { input: 7, output: 2 })
    t.same(parseSystemOne('{"answers":{"q1":{"noul":1}}}', [noul]).usage, { input: 0, output: 0, estimated: true })
  })

  t.test('what is wrong is a fault that names the question', async (t) => {
    const wrong = [
      '{"type":"choice","choice":"b","probabilities":{"2":0.2,"10":0.1,"b":0.7}}',
      '{"type":"choice","choice":"b","probabilities":{"2":0.2,"10":0.1,"x":0.3,"b":0.4}}',
      '{"type":"choice","choice":"b","probabilities":{"2":0.2,"10":0.1,"__proto__":0.3,"b":0.9}}',
      '{"type":"choice","choice":"b"}',
      '{"type":"noul","noul":1}',
      'null',
    ]
    for (const text of wrong) {
      t.throws(
        () => parseSystemOne(answers('{"noul":0.5}', text), [noul, hostile]),
        fault(UpstreamFailed, { again: true, validator: { 1: /no valid/ } }),
      )
    }
    for (const text of ['{"noul":1.5}', '{"noul":"1"}', '{"type":"noul"}'])
      t.throws(() => parseSystemOne(answers(text), [noul]), UpstreamFailed)
    for (const text of ['', '[]', '{"answers":[]}', '{"answers":{"q1":{"noul":1},"q1":{"noul":0}}}']) {
      t.throws(() => parseSystemOne(text, [noul]), fault(UpstreamFailed, { again: true }))
    }
    t.same(parseSystemOne(answers('{"type":"refusal"}'), [noul]).distributions, [
      { probabilities: [0.5, 0.5], refused: 'declined' },
    ])
  })
})

t.test('backends of the second form', async (t) => {
  const call = callOf(
    { ...choice(['b', 'a'], { ask: 1 } as never) },
    choice(['only']),
    { type: 'noul', instructions: 'Is it?', yes: 'surely', no: { not: 1 } as never },
    score('low', null),
  )
  const good = {
    model: 'm',
    answers: [
      {
        type: 'choice',
        name: 'q1',
        choice: 'a',
        confidence: 1,
        probabilities: [
          { value: 'a', probability: 0.7 },
          { value: 'b', probability: 0.3 },
        ],
      },
      { type: 'predicate', name: 'q2', probability: 0.25 },
      {
        type: 'score',
        name: null,
        score: 1,
        confidence: 1,
        probabilities: [
          { label: '0', value: 0, probability: 0.5 },
          { label: '1', value: 1, probability: 0.5 },
        ],
      },
    ],
    usage: { input_tokens: 3, output_tokens: 0 },
  }

  t.test('asks', async (t) => {
    t.same(JSON.parse(printDecisions(call)), {
      model: 'm',
      input: 'A state.',
      questions: [
        { type: 'choice', instructions: '{"ask":1}', choices: [{ value: 'b' }, { value: 'a' }], name: 'q1' },
        { type: 'predicate', instructions: 'Is it?\nTrue: surely\nFalse: {"not":1}', name: 'q2' },
        {
          type: 'score',
          instructions: 'How much?',
          levels: [{ label: '0', description: 'low' }, { label: '1' }],
          name: 'q3',
        },
      ],
    })
    const pictured = JSON.parse(printDecisions({ ...call, state: new Map([['k', 1]]), images: ['data:x'] }))
    t.same(pictured.input, [
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'data:x' },
          { type: 'input_text', text: '{"k":1}' },
        ],
      },
    ])
    t.equal(asksAnything(callOf(choice(['only']))), false)
    t.equal(asksAnything(call), true)
  })

  t.test('reads', async (t) => {
    const { distributions, usage } = parseDecisions(JSON.stringify(good), call.questions)
    t.same(
      distributions.map(({ probabilities }) => probabilities),
      [[0.3, 0.7], [1], [0.25, 0.75], [0.5, 0.5]],
    )
    t.same(usage, { input: 3, output: 0 })
    const [first, ...rest] = good.answers
    for (const answers of [
      rest,
      [{ type: 'predicate', probability: 1 }, ...rest],
      [{ ...first, name: 'q9' }, ...rest],
      [{ ...first, probabilities: [{ value: 'a', probability: 0.7 }] }, ...rest],
      [
        {
          ...first,
          probabilities: [
            { value: 'a', probability: 0.7 },
            { value: 'a', probability: 0.3 },
          ],
        },
        ...rest,
      ],
      [
        {
          ...first,
          probabilities: [
            { value: 'a', probability: 0.7 },
            { value: 'c', probability: 0.3 },
          ],
        },
        ...rest,
      ],
      [{ ...first, probabilities: { a: 1 } }, ...rest],
      [null, ...rest],
    ]) {
      t.throws(
        () => parseDecisions(JSON.stringify({ answers }), call.questions),
        fault(UpstreamFailed, { again: true }),
      )
    }
    const declined = JSON.stringify({ answers: [first, { type: 'refusal', name: 'q2' }, good.answers[2]] })
    const partly = parseDecisions(declined, call.questions).distributions
    t.same(partly.map(isRefused), [false, false, true, false], 'the others keep their answers')
  })
})

t.test('reads of a chat model', async (t) => {
  const one = async (question: Question, top: readonly [string, number][], temperature = 1) => {
    const { upstream } = chatting(() => completion('A', top))
    return (await decideByChat(upstream, callOf(question), temperature, never)).distributions[0]!
  }
  const near = (t: Test, given: readonly number[], wanted: readonly number[]) =>
    t.ok(
      given.length === wanted.length && given.every((value, index) => Math.abs(value - wanted[index]!) < 1e-12),
      `${given} is ${wanted}`,
    )

  t.test('what is sent', async (t) => {
    const { upstream, calls } = chatting(opinion)
    const options = [
      { label: 'bill', description: 'Money' },
      { label: 'bug', description: null },
    ]
    const call = {
      ...callOf({ type: 'choice', instructions: 'Which?', options }, score('low', 'high')),
      state: new Map([
        ['10', 1],
        ['2', 2],
      ]),
      images: ['data:x'],
    }
    const { engine, usage } = await decideByChat(upstream, call, 1, never)
    t.equal(engine, 'logprobs')
    t.same(usage, { input: 20, output: 2 })
    t.same(calls[0], {
      model: 'm',
      stream: false,
      body: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: 'data:x' } },
              {
                type: 'text',
                text: '{"10":1,"2":2}\n\nWhich?\nA: bill - Money\nB: bug\n\nAnswer with the letter of one option and nothing else.',
              },
            ],
          },
        ],
        max_tokens: 1,
        temperature: 0,
        logprobs: true,
        top_logprobs: 20,
        chat_template_kwargs: { enable_thinking: false },
        reasoning_effort: 'none',
      },
    })
    t.match(textOf(calls[1]!.body), /\n0: low\n1: high\n/)
  })

  t.test('token variants are folded, other tokens left out', async (t) => {
    const given = await one(noul, [
      ['Yes', 0.3],
      [' yes', 0.2],
      ['YES', 0.1],
      ['No', 0.15],
      ['Maybe', 0.2],
    ])
    near(t, given.probabilities, [0.8, 0.2])
    t.ok(Math.abs(given.labelMass! - 0.75) < 1e-12)
    t.equal(given.truncated, false)
    const letters = await one(choice(['x', 'y']), [
      ['A', 0.5],
      ['a', 0.1],
      ['\u2581B', 0.2],
      ['\u0120b', 0.1],
      ['AB', 0.05],
    ])
    near(t, letters.probabilities, [2 / 3, 1 / 3])
  })

  t.test('the temperature of the model', async (t) => {
    const given = await one(
      noul,
      [
        ['yes', 0.8],
        ['no', 0.2],
      ],
      2,
    )
    near(t, given.probabilities, [
      Math.sqrt(0.8) / (Math.sqrt(0.8) + Math.sqrt(0.2)),
      Math.sqrt(0.2) / (Math.sqrt(0.8) + Math.sqrt(0.2)),
    ])
    t.ok(Math.abs(given.labelMass! - 1) < 1e-12, 'the mass is that before')
  })

  t.test('tokens that read alike count each, one that is listed twice counts once', async (t) => {
    const twins: [string, number][] = [
      ['yes', 0.3],
      ['yes', 0.2],
      ['no', 0.25],
      ['no', 0.25],
    ]
    near(t, (await one(noul, twins)).probabilities, [2 / 3, 1 / 3])
  })

  t.test('a label out of sight', async (t) => {
    t.match(
      await one(choice(['x', 'y', 'z']), [
        ['A', 0.4],
        ['B', 0.3],
      ]),
      { truncated: true },
      'as much as 0.3 may be hidden',
    )
    t.match(
      await one(choice(['x', 'y', 'z']), [
        ['A', 0.9],
        ['B', 0.0999],
        ['q', 0.0001],
      ]),
      { truncated: false },
    )
  })

  t.test('a question without mass on its labels is declined', async (t) => {
    const elsewhere = await one(noul, [
      ['The', 0.99],
      ['yes', 0.005],
    ])
    t.same(elsewhere, { probabilities: [0.5, 0.5], refused: 'astray' })
    const shaky = await one(noul, [
      ['The', 0.7],
      ['yes', 0.2],
      ['no', 0.1],
    ])
    t.match(measure(shaky), { unreliable: true })
  })

  t.test('without log-probabilities: weights in JSON, remembered by backend and model', async (t) => {
    const { upstream, calls } = chatting((body) =>
      body['response_format'] ? completion('{"yes":30,"no":10}', null) : completion('yes', null),
    )
    const first = await decideByChat(upstream, callOf(noul), 1, never)
    t.equal(first.engine, 'structured')
    near(t, first.distributions[0]!.probabilities, [0.75, 0.25])
    t.equal(first.distributions[0]!.labelMass, undefined)
    t.equal(calls.length, 2)
    await decideByChat(upstream, callOf(noul), 1, never)
    t.equal(calls.length, 3, 'not asked for them again')
    await decideByChat(upstream, { ...callOf(noul), model: 'other' }, 1, never)
    t.equal(calls.length, 5, 'another model is another matter')
    for (const content of [
      '{"yes":1}',
      '{"yes":1,"no":"x"}',
      '{"yes":0,"no":0}',
      '{"yes":1,"no":-1}',
      'no',
      '{"yes":1,"no":1,"x":1}',
      '{"yes":101,"no":1}',
    ]) {
      const bad = chatting(() => completion(content, null))
      await t.rejects(decideByChat(bad.upstream, callOf(noul), 1, never), fault(UpstreamFailed), content)
    }
  })

  t.test('a backend that does not know how to turn thinking off', async (t) => {
    const { upstream, calls } = chatting((body) => {
      if (body['chat_template_kwargs']) throw new BadRequest('Unknown field')
      return opinion(body)
    })
    t.equal((await decideByChat(upstream, callOf(noul), 1, never)).engine, 'logprobs')
    await decideByChat(upstream, callOf(noul), 1, never)
    t.equal(calls.length, 3)
    const strict = chatting(() => {
      throw new BadRequest('No images here')
    })
    await t.rejects(
      decideByChat(strict.upstream, callOf(noul), 1, never),
      fault(BadRequest, { message: 'No images here' }),
    )
    t.equal(strict.calls.length, 3)
    await decideByChat(strict.upstream, callOf(noul), 1, never).catch(() => {})
    t.equal(strict.calls.length, 6, 'and nothing was learned from that')
  })

  t.test('rotations', async (t) => {
    t.same(ordersOf(choice(['a', 'b', 'c', 'd']), 1), [[0, 1, 2, 3]])
    t.same(ordersOf(choice(['a', 'b', 'c', 'd']), 2), [
      [0, 1, 2, 3],
      [2, 3, 0, 1],
    ])
    t.same(ordersOf(choice(['a', 'b', 'c']), 32), [
      [0, 1, 2],
      [1, 2, 0],
      [2, 0, 1],
    ])
    t.same(ordersOf(noul, 5), [
      [0, 1],
      [1, 0],
    ])
    t.same(ordersOf(score('a', 'b', 'c'), 7), [
      [0, 1, 2],
      [2, 1, 0],
    ])
    const mean = average([
      { probabilities: [0.8, 0.2], labelMass: 1 },
      { probabilities: [0.4, 0.6], labelMass: 0.5, truncated: true },
    ])
    t.match(mean, { labelMass: 0.75, truncated: true, reads: 2, agreement: 0.5 })
    near(t, mean.probabilities, [0.6, 0.4])
    t.ok(Math.abs(mean.stderr! - 0.2) < 1e-12, 'standard error of the winner')

    // A backend that only ever likes what stands first: rotating takes that away.
    const biased = chatting((body) =>
      completion(
        'A',
        shownIn(textOf(body)).map(({ mark }, index) => [mark, index === 0 ? 0.7 : 0.1] as [string, number]),
      ),
    )
    const { distributions } = await decideByChat(
      biased.upstream,
      { ...callOf(choice(['a', 'b', 'c', 'd'])), samples: 4, steps: 3 },
      1,
      never,
    )
    near(t, distributions[0]!.probabilities, [0.25, 0.25, 0.25, 0.25])
    t.equal(biased.calls.length, 4)
    t.equal(distributions[0]!.agreement, 0.25)
    const reversed = chatting(opinion)
    await decideByChat(reversed.upstream, { ...callOf(score('a', 'b', 'c')), samples: 2 }, 1, never)
    t.match(textOf(reversed.calls[1]!.body), /\n2: c\n1: b\n0: a\n/, 'a level keeps its number')
  })

  t.test('more than twenty labels are read by groups, in true proportion', async (t) => {
    const labels = Array.from({ length: 26 }, (_, index) => `label ${index}`)
    const truth = labels.map((label) => weightOf(label))
    const sum = truth.reduce((sum, value) => sum + value, 0)
    const { upstream, calls } = chatting((body) => {
      const shown = shownIn(textOf(body))
      if (shown.length > 20) throw new Error('too many for one read')
      const all = shown.reduce((sum, { says }) => sum + weightOf(says), 0)
      return completion(
        'A',
        shown.map(({ mark, says }) => [mark, weightOf(says) / all] as [string, number]),
      )
    })
    const { distributions } = await decideByChat(upstream, callOf(choice(labels)), 1, never)
    t.equal(calls.length, 3)
    t.ok(
      distributions[0]!.probabilities.every((probability, index) => Math.abs(probability - truth[index]! / sum) < 1e-9),
    )
    t.ok(checkDistribution(choice(labels), distributions[0], 0))
    const twenty = chatting(opinion)
    await decideByChat(twenty.upstream, callOf(choice(labels.slice(0, 20))), 1, never)
    t.equal(twenty.calls.length, 1)
  })

  t.test('a question that the model refuses is declined after one call, in any way of asking', async (t) => {
    const refusing = (more: object, finish_reason = 'stop'): Completion => {
      const message = { role: 'assistant', content: null, ...more }
      return { ...completion(null, null), choices: [{ index: 0, message, finish_reason }] }
    }
    const refusals = [refusing({ refusal: 'I can’t help with that.' }), refusing({ content: '' }, 'content_filter')]
    for (const refused of refusals) {
      const { upstream, calls } = chatting((body) => (textOf(body).includes('gold') ? refused : opinion(body)))
      const asking = callOf(noul, choice(['a', 'b', 'c'], 'Where is the gold?'))
      const { distributions } = await decideByChat(upstream, asking, 1, never)
      t.same(distributions.map(isRefused), [false, true], 'the other question keeps its answer')
      t.equal(calls.length, 2)
      const weighing = chatting((body) => (body['response_format'] ? refused : completion('A', null)))
      t.same((await decideByChat(weighing.upstream, callOf(noul), 1, never)).distributions.map(isRefused), [true])
    }
    const wide = choice(Array.from({ length: 45 }, (_, at) => `label ${at}`))
    const some = chatting((body) => (textOf(body).includes('label 30') ? refusals[0]! : opinion(body)))
    t.same(
      (await decideByChat(some.upstream, callOf(wide), 1, never)).distributions,
      [refusal(45)],
      'and a group of it',
    )
    const turned = chatting((body) => (/^A: b$/m.test(textOf(body)) ? refusals[0]! : opinion(body)))
    const twice = { ...callOf(choice(['a', 'b'])), samples: 2 }
    t.same((await decideByChat(turned.upstream, twice, 1, never)).distributions, [refusal(2)], 'and a read of it')
  })

  t.test('one failing question ends the rest', async (t) => {
    let ended = 0
    let asked = 0
    const { upstream } = chatting((body, signal) => {
      asked++
      if (textOf(body).includes('Question 3?')) return Promise.reject(new UpstreamFailed(undefined, { again: true }))
      return new Promise((_, reject) => signal.addEventListener('abort', () => (ended++, reject(signal.reason))))
    })
    const questions = Array.from({ length: 16 }, (_, index) => choice(['a', 'b', 'c', 'd'], `Question ${index}?`))
    await t.rejects(decideByChat(upstream, { ...callOf(...questions), samples: 4 }, 1, never), UpstreamFailed)
    t.equal(asked, 16, 'and what waits is never asked')
    t.equal(ended, 12, 'four reads of each of the first four questions were under way, four of them failed')
    const leaving = new AbortController()
    const going = decideByChat(upstream, callOf(noul), 1, leaving.signal)
    leaving.abort(new Error('left'))
    await t.rejects(going, { message: 'left' })
  })
})

t.test('the routes', async (t) => {
  const body = (questions: unknown, more: object = {}) => ({ model: 'm', state: 'A state.', questions, ...more })

  t.test('an answer of every type, in order and whole', async (t) => {
    const { upstream } = chatting(opinion)
    const { decide, settled } = house([model('m', [upstream], { decide: true })])
    const text =
      '{"model":"m","state":{"z":1},"questions":{"__proto__":{"type":"choice","instructions":"Which?","criteria":{"10":null,"2":"two","b":null,"__proto__":null}},"constructor":{"type":"noul"},"10":{"type":"score","criteria":["low",null,"high"]},"2":{"type":"choice","criteria":{"only":null}}}}'
    const { ordered, body: plain, reply } = await decide(text)
    t.same([...ordered.keys()], ['model', 'answers', 'usage', 'diagnostics'])
    const answers = ordered.get('answers')
    t.same([...answers.keys()], ['__proto__', 'constructor', '10', '2'])
    t.same([...answers.get('__proto__').get('probabilities').keys()], ['10', '2', 'b', '__proto__'])
    t.same([...answers.get('constructor').keys()], ['type', 'noul'])
    t.same(Object.keys(plain.answers['10']), ['type', 'score', 'legend', 'probabilities', 'confidence'])
    t.same(plain.answers['10'].legend, { 0: 'low', 1: '1', 2: 'high' })
    t.same(plain.answers['2'], { type: 'choice', choice: 'only', probabilities: { only: 1 }, confidence: 1 })
    t.same(plain.usage, { input_tokens: 30, output_tokens: 3 })
    t.match(plain.diagnostics, {
      engine: 'logprobs',
      backend: 'chat',
      samples: 1,
      steps: 1,
      reads: 3,
      timing_ms: Number,
      questions: { constructor: { label_mass: Number } },
    })
    t.same([...ordered.get('diagnostics').get('questions').keys()], ['__proto__', 'constructor', '10', '2'])
    t.ok(
      [...answers.get('__proto__').get('probabilities').values()].some((value: number) => `${value}`.length > 12),
      'nothing is rounded',
    )
    t.equal(reply.headers?.['x-ratelimit-limit-tokens'], '5')
    t.same(settled, [['m', { input: 30, output: 3 }, 'chat']])
    const other = await decide(text, { route: 1 })
    t.same([...other.ordered.keys()], ['model', 'answers', 'usage', 'x_diagnostics'])
    t.same(other.body.answers, plain.answers)
  })

  t.test('renaming, reordering and splitting change no answer', async (t) => {
    const { upstream, calls } = chatting(opinion)
    const { decide } = house([model('m', [upstream], { decide: true })])
    const asked = fc.oneof(
      fc.record({
        type: fc.constant('choice'),
        instructions: fc.string(),
        criteria: fc
          .uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 })
          .map((texts) => Object.fromEntries(texts.map((label) => [label, null]))),
      }),
      fc.record({ type: fc.constant('noul'), instructions: fc.string() }),
      fc.record({
        type: fc.constant('score'),
        instructions: fc.string(),
        criteria: fc.array(fc.string(), { minLength: 2, maxLength: 10 }),
      }),
    )
    const listOf = (asking: readonly unknown[], prefix: string) =>
      body(Object.fromEntries(asking.map((given, index) => [`${prefix}${index}`, given])))
    await fc.assert(
      fc.asyncProperty(
        fc.array(asked, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 3 }),
        async (asking, samples) => {
          const answersOf = async (asking: readonly unknown[], prefix: string) =>
            Object.values((await decide({ ...listOf(asking, prefix), samples })).body.answers).map((answer) =>
              JSON.stringify(answer),
            )
          const plain = await answersOf(asking, 'q')
          const renamed = await answersOf(asking, 'an id that means yes ')
          const turned = (await answersOf(asking.toReversed(), 'q')).toReversed()
          const split = (await Promise.all(asking.map((given) => answersOf([given], 'x')))).flat()
          for (const other of [renamed, turned, split])
            if (other.join() !== plain.join()) throw new Error(`${plain}\n${other}`)
        },
      ),
      { numRuns: 60 },
    )
    t.notOk(
      calls.some(({ body }) => JSON.stringify(body).includes('an id that means yes')),
      'no id reaches a prompt',
    )
  })

  t.test('which model answers', async (t) => {
    const { upstream } = chatting(opinion)
    const native: Upstream = {
      ...upstream,
      name: 'native',
      decide: async ({ questions }) => ({
        distributions: questions.map(() => ({ probabilities: [0.5, 0.5] })),
        usage: { input: 1.4, output: 0 },
        engine: 'native',
      }),
    }
    const entries = [
      model('talker', [upstream]),
      model('m', [upstream], { decide: true, created: 86400, description: 'Small' }),
      model('n', [native]),
      model('sealed', [native], { standard: false, confidential: true }),
      model('drawer', [{ ...upstream, name: 'drawer' }], { type: 'IMAGE' }),
    ]
    const one = { q: ask1 }
    const plain = house(entries, { decision: { aliases: { small: 'm', toString2: 'n' } } })
    t.equal((await plain.decide(body(one, { model: 'small' }))).body.model, 'm')
    t.equal((await plain.decide(body(one, { model: 'jev-latest' }))).body.model, 'm', 'the first that decides')
    t.match((await plain.decide(body(one, { model: 'n' }))).body, {
      model: 'n',
      usage: { input_tokens: 1 },
      diagnostics: { engine: 'native', backend: 'native' },
    })
    const set = house(entries, { decision: { default: 'n' } })
    t.equal((await set.decide(body(one, { model: 'jev-latest' }))).body.model, 'n')
    await t.rejects(plain.decide(body(one, { model: 'none' })), fault(NotFound))
    await t.rejects(plain.decide(body(one, { model: 'toString' })), fault(NotFound))
    await t.rejects(plain.decide(body(one, { model: '__proto__' })), fault(NotFound))
    await t.rejects(
      plain.decide(body(one, { model: 'talker' })),
      fault(BadRequest, { message: /\/std\/chat\/completions/, validator: { model: String } }),
    )
    await t.rejects(plain.decide(body(one, { model: 'drawer' })), fault(BadRequest))
    await t.rejects(
      plain.decide(body(one, { model: 'sealed' })),
      fault(BadRequest, { message: /encrypted inference only/ }),
    )
    await t.rejects(
      plain.decide(body(one, { provider: 'elsewhere' })),
      fault(BadRequest, { validator: { provider: /chat/ } }),
    )
    const only = { ...caller, models: ['n'] }
    await t.rejects(plain.decide(body(one), { by: only }), fault(NotFound))
    t.equal((await plain.decide(body(one, { model: 'jev-latest' }), { by: only })).body.model, 'n')
    await t.rejects(
      plain.decide(body(one, { model: 'talker' }), { by: only }),
      fault(NotFound),
      'nor is told what it is',
    )
    const list = await plain.models()
    t.same(list.models, [
      { name: 'm', description: 'Small', release_date: '1970-01-02' },
      { name: 'n', description: '', release_date: '1970-01-01' },
    ])
    t.same(
      list.data.map((given: { model: string }) => given.model),
      ['m', 'n'],
    )
    t.same(
      (await plain.models(only)).models.map((given: { name: string }) => given.name),
      ['n'],
    )
  })

  t.test('a backend that answers wrongly, and one that stands in for it', async (t) => {
    const wrong: Upstream = {
      name: 'wrong',
      models: async () => [],
      decide: async () => ({
        distributions: [{ probabilities: [0.5, 0.5] }, { probabilities: [0.9, 0.9] }],
        usage: { input: 1, output: 1 },
        engine: 'native',
      }),
    }
    const { decide, settled } = house([model('m', [wrong])])
    const asked = { first: ask1, 'second.one': ask1 }
    await t.rejects(
      decide(body(asked)),
      fault(UpstreamFailed, {
        status: 503,
        message: 'questions.second.one: the backend gave no valid answer',
        validator: { 'questions.second.one': /valid/ },
      }),
    )
    t.same(settled, [['m', { input: 1, output: 1 }, 'wrong']], 'the answer is paid for')
    const short: Upstream = {
      ...wrong,
      decide: async () => ({ distributions: [], usage: { input: 1, output: 1 }, engine: 'native' }),
    }
    await t.rejects(house([model('m', [short])]).decide(body(asked)), fault(UpstreamFailed))
    const spare = house([model('m', [wrong, chatting(opinion).upstream], { decide: true })])
    t.match((await spare.decide(body(asked))).body.diagnostics, { backend: 'chat', engine: 'logprobs' })
  })

  t.test('a declined question is a fault that names it, and no second backend is asked', async (t) => {
    let asked = 0
    const declining: Upstream = {
      name: 'declining',
      models: async () => [],
      decide: async () => {
        asked++
        return {
          distributions: [{ probabilities: [0.5, 0.5] }, refusal(2)],
          usage: { input: 1, output: 1 },
          engine: 'native',
        }
      },
    }
    const { decide, settled } = house([model('m', [declining, declining])])
    await t.rejects(
      decide(body({ first: ask1, 'second.one': ask1 })),
      fault(UpstreamFailed, { status: 502, validator: { 'questions.second.one': /refused/ } }),
    )
    t.equal(asked, 1)
    t.same(settled, [['m', { input: 1, output: 1 }, 'declining']], 'the answer is paid for')
  })

  t.test('questions that models decline close no model', async (t) => {
    const forbidden = { type: 'noul', instructions: 'Where is the gold?' }
    const isForbidden = (question: Question) => print(question.instructions).includes('gold')
    const declining: Upstream = {
      name: 'declining',
      models: async () => [],
      decide: async ({ questions }) => ({
        distributions: questions.map((question) =>
          isForbidden(question) ? refusal(2) : { probabilities: [0.5, 0.5] },
        ),
        usage: { input: 1, output: 1 },
        engine: 'native',
      }),
    }
    const astray = chatting((body) => (textOf(body).includes('gold') ? completion('I', [['I', 0.99]]) : opinion(body)))
    for (const upstream of [declining, astray.upstream]) {
      const { decide } = house([model('m', [upstream], { decide: true })])
      const told = fault(UpstreamFailed, { status: 502, retryAfter: null, validator: { 'questions.q': String } })
      for (let call = 0; call < 12; call++) await t.rejects(decide(body({ q: forbidden })), told, upstream.name)
      t.ok((await decide(body({ q: ask1 }))).body.answers.q, `${upstream.name} still serves`)
    }
    t.equal(astray.calls.length, 13, 'each question is asked once')
  })

  t.test('a state beyond every window is refused before a backend is asked', async (t) => {
    const { upstream, calls } = chatting(opinion)
    const entry = model('m', [upstream], { decide: true })
    const within = (context: number | null) => ({
      ...entry,
      candidates: entry.candidates.map((one) => ({ ...one, context })),
    })
    const long = body({ q: ask1 }, { state: 'word '.repeat(1000) })
    const refused = { status: 400, code: 'context_length_exceeded', validator: { state: /at most/ } }
    await t.rejects(house([within(500)]).decide(long), fault(BadRequest, refused))
    t.equal(calls.length, 0)
    for (const context of [5000, null]) t.equal((await house([within(context)]).decide(long)).body.model, 'm')
  })

  t.test('what a backend can not honour is told', async (t) => {
    const { decide } = house([model('m', [chatting(opinion).upstream], { decide: true })])
    t.match((await decide(body({ q: ask1 }, { steps: 4, samples: 2 }))).body.diagnostics, {
      ignored: ['steps'],
      steps: 4,
      samples: 2,
      reads: 2,
      questions: { q: { agreement: Number, stderr: Number } },
    })
    t.notOk('ignored' in (await decide(body({ q: ask1 }))).body.diagnostics)
  })

  t.test('the temperature of a model counts for a backend that decides by itself, too', async (t) => {
    const native: Upstream = {
      name: 'native',
      models: async () => [],
      decide: async () => ({
        distributions: [{ probabilities: [0.8, 0.2], labelMass: 0.9 }],
        usage: { input: 1, output: 0 },
        engine: 'native',
      }),
    }
    const noulOf = async (temperature: number) =>
      (await house([model('m', [native], { temperature })]).decide(body({ q: ask1 }))).body.answers.q.noul
    t.equal(await noulOf(1), 0.8)
    t.ok(Math.abs((await noulOf(2)) - 2 / 3) < 1e-12, 'two roots, in proportion')
  })

  t.test('a larger model is asked about what stays uncertain', async (t) => {
    const fixed = (name: string, of: (question: Question) => number): Upstream & { asked: Question[] } => {
      const asked: Question[] = []
      return {
        name,
        asked,
        models: async () => [],
        async decide({ questions }) {
          asked.push(...questions)
          return {
            distributions: questions.map((question) => ({ probabilities: [of(question), 1 - of(question)] })),
            usage: { input: 10, output: 1 },
            engine: 'native',
          }
        },
      }
    }
    const small = fixed('small', ({ instructions }) => (instructions === 'Hard?' ? 0.55 : 0.99))
    const large = fixed('large', () => 0.9)
    const asked = { easy: { type: 'noul', instructions: 'Easy?' }, hard: { type: 'noul', instructions: 'Hard?' } }
    const entries = [model('m', [small]), model('l', [large])]
    const { decide, settled } = house(entries, { decision: { escalate: { below: 0.5, to: 'l' } } })
    const answered = (await decide(body(asked))).body
    t.same([answered.answers.easy.noul, answered.answers.hard.noul], [0.99, 0.9])
    t.same(
      large.asked.map(({ instructions }) => instructions),
      ['Hard?'],
    )
    t.same(answered.usage, { input_tokens: 20, output_tokens: 2 })
    t.match(answered, { model: 'm', diagnostics: { escalated: { model: 'l', backend: 'large', questions: 1 } } })
    t.same(
      settled.map((row) => (row as unknown[])[0]),
      ['m', 'l'],
    )
    t.notOk(
      'escalated' in (await decide(body(asked, { provider: 'small' }))).body.diagnostics,
      'a pinned backend is taken at its word',
    )
    t.notOk('escalated' in (await decide(body(asked), { by: { ...caller, models: ['m'] } })).body.diagnostics)
    const down = house([entries[0]!, model('l', [{ ...large, decide: () => Promise.reject(new UpstreamFailed()) }])], {
      decision: { escalate: { below: 0.5, to: 'l' } },
    })
    t.match((await down.decide(body(asked))).body, {
      answers: { hard: { noul: 0.55 } },
      diagnostics: { escalated: { failed: true } },
    })

    const first = (answered.diagnostics as any).escalated.answers
    t.same(first, { hard: { type: 'noul', noul: 0.55 } }, 'the first answer is told beside the second')
    const middle = fixed('middle', () => 0.6)
    const three = [...entries, model('n', [middle])]
    const rules = { escalateFrom: { m: { below: 0.5, to: 'n', most: 2 }, n: { below: 0.5, to: 'l' } } }
    const chained = house(three, { decision: rules })
    const { body: up } = await chained.decide(body(asked))
    t.match(up, {
      answers: { easy: { noul: 0.99 }, hard: { noul: 0.9 } },
      usage: { input_tokens: 30, output_tokens: 3 },
      diagnostics: { escalated: { model: 'l', earlier: [{ model: 'n', questions: 1 }] } },
    })
    t.same(
      chained.settled.map((row) => (row as unknown[])[0]),
      ['m', 'n', 'l'],
      'all on one bill',
    )
    const once = house(three, { decision: { escalateFrom: { ...rules.escalateFrom, m: { below: 0.5, to: 'n' } } } })
    t.match((await once.decide(body(asked))).body, { answers: { hard: { noul: 0.6 } } }, 'one step where none is named')

    const higher = { escalateFrom: { ...rules.escalateFrom, n: { below: 0.999, to: 'l' } } }
    const { body: apart } = await house(three, { decision: higher }).decide(body(asked))
    const steps = { questions: 1, earlier: [{ questions: 1 }] }
    const kept = { answers: { easy: { noul: 0.99 } }, diagnostics: { escalated: steps } }
    t.match(apart, kept, 'a sure answer is not asked again for the sake of another')

    t.notOk('escalated' in (await decide(body(asked, { escalate: false }))).body.diagnostics, 'a caller declines')
    const own = house(three)
    const wish = { escalate: { below: 0.5, to: 'n' } }
    t.match((await own.decide(body(asked, wish))).body.diagnostics, { escalated: { model: 'n' } }, 'or chooses')
    await t.rejects(own.decide(body(asked, { escalate: { below: 0.5, to: 'none' } })), fault(NotFound))
    for (const [escalate, path] of [
      [{ below: 2, to: 'n' }, 'escalate.below'],
      [{ below: 0.5 }, 'escalate.to'],
      [{ below: 0.5, to: 'n', most: 4 }, 'escalate.most'],
    ] as const)
      await t.rejects(
        async () => own.decide(body(asked, { escalate })),
        fault(BadRequest, { validator: { [path]: /expected/ } }),
      )
  })

  t.test('the deadline, and a client that leaves', async (t) => {
    const signals: AbortSignal[] = []
    const silent = chatting((_, signal) => {
      signals.push(signal)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const { decide, settled } = house([model('m', [silent.upstream], { decide: true })], { timeouts: { decision: 50 } })
    const clock = quietClock()
    const late = await decide(body({ q: ask1 })).catch((error: unknown) => error)
    t.ok(late instanceof GatewayError && late.status >= 500)
    t.ok(clock() < 1000)
    t.ok(signals[0]!.aborted)
    const leaving = new AbortController()
    const going = decide(body({ q: ask1 }), { signal: leaving.signal })
    setTimeout(() => leaving.abort(new Error('left')), 10)
    await t.rejects(going, { message: 'left' })
    t.ok(signals[1]!.aborted, 'the backend is let go')
    t.same(settled, [
      ['m', null, null],
      ['m', null, null],
    ])
  })

  t.test('who leaves pays for the prompts that were answered', async (t) => {
    let asked = 0
    const { upstream } = chatting((_, signal) => {
      if (++asked <= 2) return Promise.resolve(completion('A', [['A', -0.1], ['B', -3]])) // prettier-ignore
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const { decide, settled } = house([model('m', [upstream], { decide: true })])
    const leaving = new AbortController()
    const questions = { one: ask1, two: ask1, three: ask1 }
    const going = decide(body(questions), { signal: leaving.signal })
    setTimeout(() => leaving.abort(new Error('left')), 20)
    await t.rejects(going, { message: 'left' })
    t.match(settled, [['m', { input: Number, output: Number }, 'chat']])
    t.ok((settled as [string, { input: number }, string][])[0]![1].input > 0)
  })
})
