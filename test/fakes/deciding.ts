import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { print, readOrdered } from '../../core/dialects/json.ts'
import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import type { AnyPlugin } from '../../core/plugin.ts'
import type { DecideCall, OrderedJson, Question } from '../../core/ports/upstream.ts'
import { isRefused } from '../../plugins/shared/decisions/probabilities.ts'
import { listening } from './listening.ts'
import type { Take } from './recorded.ts'
import { backend, provided } from '../contracts/stage.ts'
import { until } from '../until.ts'

type Fields = ReadonlyMap<string, OrderedJson>

const json = { 'content-type': 'application/json' }
const secret = 'secret-of-the-backend'

/** Like the labels that a careless reader would sort or lose. */
export const questions: readonly Question[] = [
  {
    type: 'choice',
    instructions: 'Which?',
    options: ['10', '2', 'b', '__proto__'].map((label) => ({
      label,
      description: label === 'b' ? 'The letter' : null,
    })),
  },
  { type: 'noul', instructions: 'Is it so?', yes: 'It is', no: null },
  { type: 'score', instructions: 'How much?', levels: ['low', 'middle', 'high'] },
]

export const decideCall = (model: string, more: Partial<DecideCall> = {}): DecideCall => ({
  model,
  state: new Map<string, OrderedJson>([
    ['z', 1],
    ['10', 'ten'],
    ['2', 'two'],
  ]),
  questions,
  images: [],
  samples: null,
  steps: null,
  ...more,
})

/** One share each, the later the more. */
const shares = (count: number) => Array.from({ length: count }, (_, at) => (at + 1) / ((count * (count + 1)) / 2))

/** Where an answer goes wrong: at the first question of this type. */
type Spoilt = { readonly type: Question['type']; readonly how: 'refuses' | 'doubles' | 'leaves out' } | null

/** An answer to whatever is asked in the System-One form, in another order of keys than asked. */
export const systemOneAnswer = (text: string, spoilt: Spoilt = null): string => {
  const asked = (readOrdered(text) as Fields).get('questions') as ReadonlyMap<string, Fields>
  const answers = [...asked].map(([name, question]) => {
    const type = question.get('type') as Question['type']
    const criteria = question.get('criteria')
    const how = spoilt?.type === type ? spoilt.how : null
    if (how === 'refuses') return [name, { type: 'refusal', refusal: secret }] as const
    if (type === 'noul')
      return [name, { type, noul: how === 'doubles' ? 1.25 : how ? null : 0.25, x_label_mass: 0.9 }] as const
    const labels =
      criteria instanceof Map
        ? [...(criteria as Fields).keys()]
        : (criteria as readonly unknown[]).map((_, at) => `${at}`)
    const each = shares(labels.length).map((share) => (how === 'doubles' ? 2 * share : share))
    const probabilities = new Map(
      labels
        .map((label, at) => [label, each[at]] as const)
        .slice(how === 'leaves out' ? 1 : 0)
        .reverse(),
    )
    return [name, { type, probabilities, confidence: 0.5, x_label_mass: 0.9 }] as const
  })
  return print({
    model: 'm',
    answers: new Map<string, unknown>(answers.reverse()),
    usage: { input_tokens: 10 * asked.size, output_tokens: asked.size },
  })
}

/** The same in the second public form. */
export const decisionsAnswer = (text: string, spoilt: Spoilt = null): string => {
  const asked = JSON.parse(text).questions as readonly Readonly<Record<string, any>>[]
  const answers = asked.map(({ type, name, choices, levels }) => {
    const how = spoilt !== null && (spoilt.type === 'noul' ? 'predicate' : spoilt.type) === type ? spoilt.how : null
    if (how === 'refuses') return { type: 'refusal', name, refusal: secret }
    if (type === 'predicate')
      return { type, name, probability: how === 'doubles' ? 1.25 : how ? null : 0.25, label_mass: 0.9 }
    const values: readonly unknown[] = choices
      ? choices.map((value: any) => value.value)
      : levels.map((_: unknown, at: number) => at)
    const each = shares(values.length)
    const probabilities = values.map((value, at) => ({
      value,
      probability: how === 'doubles' ? 2 * each[at]! : each[at],
    }))
    return {
      type,
      name,
      probabilities: probabilities.slice(how === 'leaves out' ? 1 : 0).reverse(),
      confidence: 0.5,
      label_mass: 0.9,
    }
  })
  const usage = { input_tokens: 10 * asked.length, output_tokens: asked.length }
  return JSON.stringify({ model: 'm', answers, usage })
}

export interface Decider {
  readonly provider: AnyPlugin
  readonly settings: (url: string) => object
  readonly path: string
  readonly answer: typeof systemOneAnswer
}

const never = new AbortController().signal

/** What holds of every backend that decides by itself, whichever form it speaks. */
export const decides = async (t: Test, { provider, settings, path, answer }: Decider): Promise<void> => {
  let take: ((body: string) => Take) | null = null
  const server = await backend(t, (request) => {
    if (request.path !== path) return { status: 404, headers: json, body: '{}' }
    const text = request.body.toString()
    return take?.(text) ?? { headers: json, body: answer(text) }
  })
  const upstream = await provided(t, provider, settings(server.url))
  const call = decideCall('m')
  const faultOf = async (call: DecideCall): Promise<any> => {
    try {
      await upstream.decide!(call, never)
    } catch (fault) {
      return fault
    }
    throw new Error('It did not fail')
  }

  await t.test('answers every type, in the order that was asked', async (t) => {
    const { distributions, usage, engine } = await upstream.decide!(call, never)
    t.same(
      distributions.map(({ probabilities }) => probabilities),
      [shares(4), [0.25, 0.75], shares(3)],
    )
    t.same(
      distributions.map(({ labelMass }) => labelMass),
      [0.9, 0.9, 0.9],
    )
    t.same(usage, { input: 30, output: 3 })
    t.equal(engine, 'native')
    const [{ distributions: first }, { distributions: last }] = [
      await upstream.decide!({ ...call, questions: [questions[2]!] }, never),
      await upstream.decide!({ ...call, questions: questions.toReversed() }, never),
    ] as const
    t.same([first[0], last[2]], [distributions[2], distributions[0]], 'whatever else is asked')
  })

  await t.test('a choice of one is answered, and its neighbours too', async (t) => {
    const only: Question = { type: 'choice', instructions: null, options: [{ label: 'only', description: null }] }
    const { distributions } = await upstream.decide!({ ...call, questions: [only, questions[1]!, only] }, never)
    t.same(
      distributions.map(({ probabilities }) => probabilities),
      [[1], [0.25, 0.75], [1]],
    )
  })

  await t.test('says what it does not honour', async (t) => {
    t.same((await upstream.decide!({ ...call, samples: 3, steps: 2 }, never)).ignored, ['samples', 'steps'])
    t.same((await upstream.decide!({ ...call, samples: 3 }, never)).ignored, ['samples'])
    t.equal((await upstream.decide!(call, never)).ignored, undefined)
  })

  await t.test('a refusal or a bad answer names the question by its place', async (t) => {
    for (const [place, { type }] of questions.entries()) {
      take = (body) => ({ headers: json, body: answer(body, { type, how: 'refuses' }) })
      const { distributions } = await upstream.decide!(call, never)
      const declined = [...distributions.keys()].filter((at) => isRefused(distributions[at]!))
      t.same(declined, [place], 'the others keep their answers')
      for (const how of ['doubles', 'leaves out'] as const) {
        take = (body) => ({ headers: json, body: answer(body, { type, how }) })
        const fault = await faultOf(call)
        t.ok(fault instanceof UpstreamFailed, `${type} ${how}`)
        t.same(Object.keys(fault.validator), [`${place}`])
        t.ok(fault.again)
        t.notMatch(fault.message + JSON.stringify(fault.validator), secret)
      }
    }
    take = null
  })

  await t.test('whatever is no answer is a failure that may pass', async (t) => {
    const bodies = [
      '',
      secret,
      '<p>',
      '[]',
      '{}',
      '{"answers":null}',
      '{"answers":{}}',
      '{"answers":[]}',
      '{"answers":{"q1":null,"q1":1}}',
    ]
    for (const body of bodies) {
      take = () => ({ headers: json, body })
      const fault = await faultOf(call)
      t.ok(fault instanceof UpstreamFailed && fault.again, body)
      t.notMatch(fault.message, secret)
    }
    take = (body) => ({ headers: json, body: answer(body), pace: { cut: 20 } })
    t.ok((await faultOf(call)) instanceof UpstreamFailed, 'cut')
    for (const [status, again] of [
      [401, true],
      [429, true],
      [500, true],
      [503, true],
    ] as const) {
      take = () => ({ status, headers: { ...json, 'retry-after': '7' }, body: secret })
      const fault = await faultOf(call)
      t.match(fault, { again, answered: status, retryAfter: 7000 })
      t.notMatch(fault.message, secret)
    }
    for (const status of [400, 422]) {
      take = () => ({ status, headers: json, body: secret })
      const fault = await faultOf(call)
      t.ok(fault instanceof BadRequest, `${status}`)
      t.notMatch(fault.message + JSON.stringify(fault.validator), secret)
    }
    take = null
  })

  await t.test('stops at once when it is told to', async (t) => {
    const { url, seen } = await waiting(t)
    const own = await provided(t, provider, settings(url))
    const controller = new AbortController()
    const reason = new Error('enough')
    const work = own.decide!(call, controller.signal)
    while (seen.asked === 0) await sleep(5)
    await sleep(20)
    const fired = performance.now()
    controller.abort(reason)
    await t.rejects(work, reason)
    while (seen.left < seen.asked && performance.now() - fired < 1000) await sleep(5)
    t.equal(seen.left, seen.asked, 'and lets go of what it asked')
  })
}

/**
 * A backend that answers what `fails` picks with a 500 once so many calls have come, and nothing else ever. It counts who
 * asked and who left.
 */
export const waiting = async (t: Test, fails: (body: string) => boolean = () => false, calls = 1) => {
  const seen = { asked: 0, left: 0 }
  const server = createServer(async (request, response) => {
    response.on('close', () => response.writableFinished || seen.left++)
    let body = ''
    for await (const part of request) body += part
    seen.asked++
    if (!fails(body)) return
    await until(() => seen.asked >= calls)
    response.writeHead(500).end(secret)
  })
  const { port } = await listening(t, server, '127.0.0.1')
  return { url: `http://127.0.0.1:${port}`, seen }
}
