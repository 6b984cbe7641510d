import './fakes/unwatched.ts'
import { createServer } from 'node:http'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { seededFractions } from '../plugins/surfaces/console/browser/chance.ts'
import { softened } from '../plugins/shared/decisions/calibration.ts'
import { Upstream } from '../core/ports/upstream.ts'
import { running } from './environments.ts'
import { commandRunner } from './fakes/command-runner.ts'
import { listening } from './fakes/listening.ts'
import { sealing } from './fakes/proxied.ts'
import { enclaveOf } from './fakes/sealed-doors.ts'
import { given } from './fitted.ts'

/** How much too sure the scripted model is, by its number of options. */
const distortion: Readonly<Record<number, number>> = { 2: 2.5, 4: 1.6 }

/** Which answer is how likely for the state `case N of OPTIONS`, before and after the model makes too much of it. */
const truly = (seed: number, options: number): readonly number[] => {
  const fraction = seededFractions(seed)
  return softened(
    Array.from({ length: options }, () => fraction() ** 3 + 0.01),
    1,
  )
}
const claimed = (seed: number, options: number): readonly number[] =>
  softened(truly(seed, options), 1 / distortion[options]!)

const questions = {
  2: { type: 'noul', instructions: 'Is it so?' },
  4: { type: 'choice', instructions: 'Which?', criteria: { north: null, east: null, south: null, west: null } },
} as const

const cases = (count: number): string => {
  const fraction = seededFractions(11)
  return Array.from({ length: count }, (_, seed) => {
    const options = seed % 2 === 0 ? 2 : 4
    let left = fraction()
    const truth = truly(seed, options).findIndex((share) => (left -= share) < 0)
    const answer = options === 2 ? truth === 0 : ['north', 'east', 'south', 'west'][truth]
    return JSON.stringify({ state: `case ${seed} of ${options}`, question: questions[options], answer })
  }).join('\n')
}

t.test('a model of known distortion is calibrated from the command line', async (t) => {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    response.setHeader('content-type', 'application/json')
    const [, seed, options] = /case (\d+) of (\d)/.exec(text) ?? []
    if (seed === undefined) return void response.end(JSON.stringify({ object: 'list', data: [] }))
    const marks = options === '2' ? ['yes', 'no'] : ['A', 'B', 'C', 'D']
    const top = claimed(Number(seed), marks.length).map((p, at) => ({ token: marks[at], logprob: Math.log(p) }))
    const choice = { index: 0, message: { role: 'assistant', content: marks[0] }, finish_reason: 'length' }
    const choices = [{ ...choice, logprobs: { content: [{ ...top[0], top_logprobs: top }] } }]
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 0, model: 'm', choices }))
  })
  const { port } = await listening(t, server, '127.0.0.1')
  const folder = t.testdir({ 'cases.jsonl': cases(600), 'few.jsonl': cases(99) })
  const file = join(folder, 'sealgate.json')
  const sure = { decide: true, upstreams: [{ provider: 'own' }] }
  const config = {
    providers: { own: { use: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` } },
    models: { sure, plain: { upstreams: [{ provider: 'own' }] } },
    enclave: { connect: ['/nowhere'] },
  }
  await writeFile(file, JSON.stringify(config, null, 2))
  const env = { SEALGATE_CONFIG: file, SEALGATE_DATA: join(folder, 'data') }
  const command = commandRunner(t)
  const calibrate = async (...args: readonly string[]) => {
    const { stdout: out, stderr: err } = await command(['calibrate', ...args], env, folder)
    return { out, err }
  }

  const { out, err } = await calibrate('sure', '--cases', 'cases.jsonl', '--plot', 'plot.svg', '--write', '--json')
  t.equal(err, '')
  const { before, after, calibration, promise } = JSON.parse(out)
  t.ok(before.excess > 0.05, `${before.excess} before`)
  t.ok(after.excess <= 0.03, `${after.excess} on the held-out half`)
  t.ok(after.brier < before.brier)
  t.ok(promise === null || promise.wrong <= 0.05)
  const wide = JSON.parse((await calibrate('sure', '--cases', 'cases.jsonl', '--errors', '0.3', '--json')).out)
  t.ok(wide.promise.confidence < 1)
  t.strictSame(wide.calibration.promise, { confidence: wide.promise.confidence, errors: 0.3, certainty: 0.95 })
  for (const options of [2, 4])
    t.ok(Math.abs(Math.log(calibration.byOptions[options] / distortion[options]!)) < 0.4, `${options} options`)
  const picture = await readFile(join(folder, 'plot.svg'), 'utf8')
  t.equal(picture, await readFile('docs/calibration.svg', 'utf8'), 'the picture of docs/decisions.md is this one')
  const written = JSON.parse(await readFile(file, 'utf8'))
  t.same(written, { ...config, models: { ...config.models, sure: { ...sure, calibration } } })

  const drift = async (from: string, ...more: readonly string[]) => {
    const told = await command(['calibrate', 'sure', '--cases', 'cases.jsonl', '--check', from, ...more], env, folder)
    return { ...told, ...(told.stdout.startsWith('{') && JSON.parse(told.stdout)) }
  }
  const sureEnough = await drift(`${promise?.confidence ?? 0.9}`, '--errors', '0.2', '--json')
  t.match(sureEnough, { code: 0, calibration: calibration.id, kept: true, cases: 600 }, 'a promise that is kept')
  const tooMuch = await drift('0.01', '--errors', '0.001')
  t.match(tooMuch, { code: 1, stdout: /the promise of 0\.1 % is not kept/ }, 'one that is not fails a build')
  t.match((await drift('0.5', '--write')).stderr, /--check fits nothing/)
  t.match((await drift('1')).stderr, /--check takes a share/)
  t.same(JSON.parse(await readFile(file, 'utf8')), written, 'a check writes nothing')

  const again = await calibrate('sure', '--cases', 'cases.jsonl')
  t.match(again.out, `"calibration": ${JSON.stringify(calibration)}`, 'what is in use is not calibrated once more')
  t.match((await calibrate('sure', '--cases', 'few.jsonl')).err, /has 99 cases; at least 100/)
  t.match((await calibrate('plain', '--cases', 'cases.jsonl')).err, /does not decide in the clear/)
  t.match((await calibrate('none', '--cases', 'cases.jsonl', '--write')).err, /does not name the model under models/)
})

t.test('diagnostics tell which calibration answered, and the larger model has its own', async (t) => {
  const mind: Upstream = {
    name: 'mind',
    models: async () => [],
    decide: async ({ model, questions }) => ({
      distributions: questions.map(() => ({ probabilities: model === 'large' ? [0.9, 0.1] : [0.8, 0.2] })),
      usage: { input: 1, output: 1 },
      engine: 'native',
    }),
  }
  const upstreams = [given(Upstream, 'mind', () => mind)]
  const decider = (calibration?: object) => ({
    type: 'DECISION' as const,
    upstreams: [{ provider: 'mind' }],
    ...(calibration && { calibration }),
  })
  const models = {
    small: decider({ id: 'of-small', temperature: 5, byOptions: { 2: 2 } }),
    large: decider({ id: 'of-large', temperature: 3 }),
    plain: decider(),
  } as any
  const house = (decision: object) => running(t, { ...memory(), upstreams }, { models, decision })
  const { call } = await house({})
  const ask = async (from: typeof call, model: string) => {
    const body = { model, state: '', questions: { q: { type: 'noul', instructions: '?' } } }
    return (await (await from('POST', '/compat/v1/decision', body)).json()) as any
  }
  const small = await ask(call, 'small')
  t.ok(Math.abs(small.answers.q.noul - 2 / 3) < 1e-9, 'the square root of 4 to 1 is 2 to 1')
  t.equal(small.diagnostics.calibration, 'of-small')
  const large = await ask(call, 'large')
  t.ok(Math.abs(large.answers.q.noul - softened([0.9, 0.1], 3)[0]!) < 1e-9, 'another number of options')
  const plain = await ask(call, 'plain')
  t.same([plain.answers.q.noul, 'calibration' in plain.diagnostics], [0.8, false])
  const raised = await ask((await house({ escalate: { to: 'large', below: 0.99 } })).call, 'small')
  t.match(raised.diagnostics, { calibration: 'of-small', escalated: { model: 'large', calibration: 'of-large' } })
})

t.test('an answer of a calibrated model says whether it keeps the promised error, sealed too', async (t) => {
  const mind: Upstream = {
    name: 'mind',
    models: async () => [],
    decide: async ({ questions }) => ({
      distributions: questions.map(({ type }) => ({ probabilities: type === 'noul' ? [0.9, 0.1] : [0.5, 0.3, 0.2] })),
      usage: { input: 1, output: 1 },
      engine: 'native',
    }),
  }
  const upstreams = [given(Upstream, 'mind', () => mind)]
  const kept = { errors: 0.05, certainty: 0.95 }
  const decider = (more: object) => ({ type: 'DECISION' as const, confidential: true, upstreams: [{ provider: 'mind' }], ...more }) // prettier-ignore
  const calibration = { id: 'one', temperature: 1 }
  const models = {
    // The confidence of the first question is 0.8.
    promised: decider({ calibration: { ...calibration, promise: { confidence: 0.8, ...kept } } }),
    stricter: decider({ calibration: { ...calibration, promise: { confidence: 0.81, ...kept } } }),
    unpromised: decider({ calibration }),
    plain: decider({}),
  }
  const expected: Readonly<Record<string, readonly unknown[]>> = {
    promised: ['act', 'ask', 'ask', undefined],
    stricter: ['ask', 'ask', 'ask', undefined],
    unpromised: ['ask', 'ask', 'ask', undefined],
    plain: [undefined, undefined, undefined, undefined],
  }
  const gateway = await running(t, { ...memory(), upstreams, enclave: enclaveOf(upstreams, { models }) }, { models })
  const { url } = await sealing(t, ['--base-url', gateway.base, '--allow-insecure-dev'], { SEALGATE_KEY: gateway.key })
  const proxied = (_: string, path: string, body: object) =>
    fetch(url.replace(/\/v1$/, '') + path, { method: 'POST', body: JSON.stringify(body) })
  const questions = {
    sure: { type: 'noul', instructions: '?' },
    torn: { type: 'choice', instructions: '?', criteria: { a: null, b: null, c: null } },
    level: { type: 'score', instructions: '?', criteria: ['low', 'middle', 'high'] },
    // No model is asked.
    only: { type: 'choice', instructions: '?', criteria: { a: null } },
  }
  const asked = [
    { type: 'predicate', name: 'sure', instructions: '?' },
    { type: 'choice', name: 'torn', instructions: '?', choices: ['a', 'b', 'c'].map((value) => ({ value })) },
    { type: 'score', name: 'level', instructions: '?', levels: ['low', 'middle', 'high'].map((label) => ({ label })) },
  ]
  const adviceIn = (answers: any) => Object.values(answers).map(({ advice }: any) => advice)
  for (const [way, call] of Object.entries({ clear: gateway.call, sealed: proxied })) {
    for (const [model, advice] of Object.entries(expected)) {
      for (const path of ['/compat/v1/decision', '/compat/v1/systemone']) {
        const told = (await (await call('POST', path, { model, state: '', questions })).json()) as any
        t.same(adviceIn(told.answers), advice, `${model} by ${path}, ${way}`)
      }
      const told = (await (await call('POST', '/v1/decisions', { model, input: 'x', questions: asked })).json()) as any
      t.same(adviceIn(told.answers ?? told), advice.slice(0, 3), `${model} by OpenAI's form, ${way}`)
    }
  }
})
