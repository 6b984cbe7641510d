import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { messagesFor } from '../../../plugins/shared/decisions/prompt.ts'
import { isMark } from '../../../plugins/providers/llama/decide-by-logits.ts'
import { use } from '../../../core/plugin.ts'
import {
  Upstream,
  type Chunk,
  type DecideCall,
  type Distribution,
  type Question,
} from '../../../core/ports/upstream.ts'
import { clock, random } from '../../../adapters/memory/platform.ts'
import llama from '../../../plugins/providers/llama.ts'
import { conform } from '../../contracts/contract.ts'
import { decider } from '../../contracts/decider.ts'
import { writeModel } from '../../fakes/gguf.ts'
import { fitted } from '../../fitted.ts'
import { never, whole } from '../../fakes/vendor.ts'

/** The folder whose packages hold node-llama-cpp, or null where it is not installed. */
const packages = ((): string | null => {
  const folder = resolve(process.env['SEALGATE_LLAMA_PATH'] ?? '.')
  try {
    createRequire(join(folder, 'package.json')).resolve('node-llama-cpp')
    return folder
  } catch {
    return null
  }
})()

const opened = (settings: { readonly file: string; readonly packages?: string; readonly contextSize?: number }) => {
  const container = fitted(use(llama, { threads: 1, contextSize: 1024, ...settings }), use(clock), use(random))
  t.teardown(() => container.dispose())
  return container.supply({ upstreams: Upstream }).upstreams[0]!
}

const body = (content: string, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more })

t.test('the refusal names a missing package', async (t) => {
  const doors = opened({ file: join(t.testdir(), 'model.gguf'), packages: t.testdirName })
  const fault = { name: 'UpstreamFailed', message: 'This model needs the package node-llama-cpp', again: false }
  await t.rejects(doors.models(never), fault)
  await t.rejects(doors.chat!({ model: 'model', body: body('Hi'), stream: false }, never), fault)
  const call = { model: 'model', state: null, questions: [], images: [], samples: null, steps: null }
  await t.rejects(doors.decide!(call, never), fault)
})

t.test('wrong settings are refused', async (t) => {
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(llama, {}), /file/)
  t.throws(() => use(llama, { file: 'x', contextSize: 1 }), /contextSize/)
  // @ts-expect-error The compiler refuses these settings, too.
  t.throws(() => use(llama, { file: 'x', url: 'y' }), /url is not a known setting/)
})

t.test('a mark differs from every other word', async (t) => {
  for (const mark of ['A', ' b', '7', 'yes', ' No', 'YES ']) t.ok(isMark(mark), mark)
  for (const other of ['', ' ', 'ab', '10', 'nor', '!', '\u00e4']) t.notOk(isMark(other), other)
})

const skip = packages === null && 'node-llama-cpp is not installed'

t.test('a model file answers', { skip }, async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'tiny.gguf')
  await writeModel(file)
  const model = 'tiny'
  const doors = opened({ file, packages: packages! })

  const decide = (state: DecideCall['state'], questions: readonly Question[], more: Partial<DecideCall> = {}) =>
    doors.decide!({ model, state, questions, images: [], samples: null, steps: null, ...more }, never)
  const chat = async (content: string, more: object = {}, prefix?: string) => {
    const options = { max_tokens: 16, temperature: 0, ...more }
    const call = { model, body: body(content, options), stream: false, ...(prefix !== undefined && { prefix }) }
    const answer = await doors.chat!(call, never)
    return whole(answer)
  }
  const choice: Question = {
    type: 'choice',
    instructions: 'Which?',
    options: ['red', 'green', 'blue'].map((label) => ({ label, description: null })),
  }
  const noul: Question = { type: 'noul', instructions: 'Is it so?', yes: null, no: null }
  const score: Question = { type: 'score', instructions: 'How much?', levels: ['none', 'some', 'much', 'all'] }
  const questions = [choice, noul, score]

  await t.test('the provider keeps the contract of deciders', (t) =>
    conform(t, decider.contract, () => ({ upstream: doors, model })),
  )

  await t.test('the list has the name of the file', async (t) => {
    t.match(await doors.models(never), [{ id: 'tiny', type: 'CHAT' }])
    const absent = opened({ file: join(folder, 'none.gguf'), packages: packages! })
    await t.rejects(absent.models(never), { name: 'UpstreamFailed', message: 'The model file is not there' })
    await t.rejects(absent.chat!({ model, body: body('Hi'), stream: false }, never), {
      name: 'UpstreamFailed',
      message: 'The model file can not be loaded',
    })
  })

  await t.test('a streamed answer equals the whole answer', async (t) => {
    const whole = await chat('Hello')
    const { message, finish_reason } = whole.choices[0]!
    t.equal(finish_reason, 'length')
    t.ok(String(message.content).length > 4)
    t.same((await chat('Hello')).choices, whole.choices)
    t.notSame((await chat('Goodbye')).choices, whole.choices)
    const call = { model, body: body('Hello', { max_tokens: 16, temperature: 0 }), stream: true }
    const answer = await doors.chat!(call, never)
    const chunks: Chunk[] = []
    if (answer.kind === 'chunks') for await (const chunk of answer.chunks) chunks.push(chunk)
    t.ok(chunks.filter(({ choices }) => choices[0]?.delta.content).length > 4, 'piece by piece')
    t.same(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), message.content)
    t.match(chunks.at(-2), { choices: [{ delta: {}, finish_reason: 'length' }] })
    t.same(chunks.at(-1)!.usage, whole.usage)
    t.ok(whole.usage!.prompt_tokens > 10)
    t.ok(Math.abs(whole.usage!.completion_tokens - 16) <= 1)
  })

  await t.test('prompts follow the model’s own template, and a prefix is continued', async (t) => {
    const text = String((await chat('Hello')).choices[0]!.message.content)
    const other = join(folder, 'other.gguf')
    await writeModel(other, 1, "{% for message in messages %}<{{ message['content'] }}>{% endfor %}")
    const answer = await opened({ file: other, packages: packages! }).chat!(
      { model, body: body('Hello', { max_tokens: 16, temperature: 0 }), stream: false },
      never,
    )
    t.not(answer.kind === 'completion' && answer.completion.choices[0]!.message.content, text)
    t.not((await chat('Hello', {}, 'So then')).choices[0]!.message.content, text)
  })

  await t.test('a request beyond the model’s abilities is the caller’s mistake', async (t) => {
    const wrong = { name: 'BadRequest' }
    await t.rejects(chat('Hi', { tools: [{ type: 'function', function: { name: 'x' } }] }), wrong)
    await t.rejects(chat('Hi', { n: 2 }), wrong)
    await t.rejects(chat('Hi '.repeat(2000)), wrong)
    const image = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }
    await t.rejects(doors.chat!({ model, body: { messages: [image] }, stream: true }, never), wrong)
    await t.rejects(decide('x', [choice], { images: ['data:image/png;base64,AA=='] }), wrong)
    await t.rejects(decide('word '.repeat(2000), [choice]), wrong)
  })

  await t.test('answers obey a schema and a stop word', async (t) => {
    const schema = { enum: ['alpha', 'beta'] }
    const told = await chat('Hi', {
      max_tokens: 200,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    })
    t.ok(['alpha', 'beta'].includes(JSON.parse(String(told.choices[0]!.message.content))))
    const text = String((await chat('Hello')).choices[0]!.message.content)
    const stop = text.slice(-3, -2)
    const stopped = await chat('Hello', { stop: [stop] })
    t.equal(stopped.choices[0]!.finish_reason, 'stop')
    t.equal(stopped.choices[0]!.message.content, text.slice(0, text.indexOf(stop)))
  })

  await t.test('a decision takes the whole vocabulary', async (t) => {
    const { distributions, engine, usage, ignored } = await decide('Something happened.', questions)
    t.equal(engine, 'logprobs')
    t.equal(ignored, undefined)
    t.same(
      distributions.map(({ probabilities }) => probabilities.length),
      [3, 2, 4],
    )
    for (const { probabilities, labelMass, truncated, reads } of distributions) {
      t.ok(Math.abs(probabilities.reduce((sum, probability) => sum + probability, 0) - 1) < 1e-9)
      t.ok(probabilities.every((p) => p > 0))
      t.ok(labelMass! > 0.01 && labelMass! < 1)
      t.equal(truncated, false)
      t.equal(reads, 1)
    }
    t.equal(usage.output, 3)
    t.ok(usage.cached! > 2 * 'Something happened.'.length, 'the state is read once')
    t.ok(usage.cached! < usage.input)
  })

  await t.test('label mass equals the mass of the marks in the whole vocabulary', async (t) => {
    const near = createRequire(join(packages!, 'package.json'))
    const { getLlama, LlamaChat } = await import(pathToFileURL(near.resolve('node-llama-cpp')).href)
    const library = await getLlama({ build: 'never', progressLogs: false, maxThreads: 1, logger() {} })
    t.teardown(() => library.dispose())
    const weights = await library.loadModel({ modelPath: file })
    const sequence = (await weights.createContext({ contextSize: 1024 })).getSequence()
    const [prompt] = messagesFor(noul, [0, 1], 'A state.', [])
    const chatHistory = [
      { type: 'user', text: prompt!.content },
      { type: 'model', response: [''] },
    ]
    const { contextText } = new LlamaChat({ contextSequence: sequence }).chatWrapper.generateContextState({
      chatHistory,
    })
    const tokens = contextText.tokenize(weights.tokenizer)
    const asked = [tokens.pop(), { generateNext: { probabilities: true } }]
    const { next } = (await sequence.controlledEvaluate([...tokens, asked])).at(-1)
    const mass = { yes: 0, no: 0 }
    for (const [token, probability] of next.probabilities as Map<number, number>) {
      const text = weights.detokenize([token]).trim().toLowerCase()
      if (text === 'yes' || text === 'no') mass[text as keyof typeof mass] += probability
    }
    const { distributions, usage } = await decide('A state.', [noul])
    const [{ probabilities, labelMass }] = distributions as [Distribution]
    t.equal(usage.input, tokens.length + 1)
    t.ok(Math.abs(labelMass! - mass.yes - mass.no) < 1e-5)
    t.ok(Math.abs(probabilities[0]! - mass.yes / (mass.yes + mass.no)) < 1e-4)
  })

  await t.test('questions are independent, and their answers repeat', async (t) => {
    const { distributions } = await decide('A state.', questions)
    const near = (some: typeof distributions, others: typeof distributions) =>
      some.forEach(({ probabilities }, index) =>
        probabilities.forEach((p, at) => t.ok(Math.abs(p - others[index]!.probabilities[at]!) < 1e-4)),
      )
    near((await decide('A state.', questions.toReversed())).distributions, distributions.toReversed())
    for (const [at, question] of questions.entries()) {
      near((await decide('A state.', [question])).distributions, [distributions[at]!])
    }
    t.notSame((await decide('Another state.', questions)).distributions, distributions)
  })

  await t.test('the prompt of a thinking model has an empty thought before the answer', async (t) => {
    const empty = '<think>\n\n</think>'
    const inputOf = async (name: string, own: string, thinking: string) => {
      const file = join(folder, `${name}.gguf`)
      const text = "{{ message['content'] }}"
      const reply = `[assistant] {% if '</think>' in message['content'] %}${text}{% else %}${own}${text}{% endif %}`
      const turn = `{% if message['role'] == 'assistant' %}${reply}{% else %}${text}{% endif %}`
      const opening = `{% if add_generation_prompt %}[assistant] ${thinking}{% endif %}`
      await writeModel(file, 1, `{% for message in messages %}${turn}{% endfor %}${opening}`)
      const call = { model: name, state: 'x', questions: [noul], images: [], samples: null, steps: null }
      return (await opened({ file, packages: packages! }).decide!(call, never)).usage.input
    }
    const off = `{% if enable_thinking is defined and enable_thinking is false %}${empty}\n\n{% endif %}`
    const thinks = await inputOf('thinks', '', off)
    t.equal(await inputOf('closes', empty, off), thinks)
    t.equal(thinks - (await inputOf('plain', '', '')), empty.length)
  })

  await t.test('samples rotate the labels', async (t) => {
    const { distributions, usage, ignored } = await decide('A state.', questions, { samples: 8, steps: 2 })
    t.same(
      distributions.map(({ reads }) => reads),
      [3, 2, 2],
    )
    t.equal(usage.output, 7)
    t.same(ignored, ['steps'])
  })

  await t.test('the model stops when the caller leaves, and serves the next call', async (t) => {
    const reason = new Error('enough')
    await t.rejects(
      doors.decide!({ model, state: '', questions, images: [], samples: null, steps: null }, AbortSignal.abort(reason)),
      reason,
    )
    const controller = new AbortController()
    const answer = await doors.chat!(
      { model, body: body('Hello', { temperature: 0 }), stream: true },
      controller.signal,
    )
    let seen = 0
    const reading = async () => {
      if (answer.kind === 'chunks') for await (const _ of answer.chunks) if (++seen === 3) controller.abort(reason)
    }
    await t.rejects(reading(), reason)
    const left = await doors.chat!({ model, body: body('Hello', { temperature: 0 }), stream: true }, never)
    if (left.kind === 'chunks') for await (const _ of left.chunks) break
    const [a, b] = await Promise.all([chat('Hello'), chat('Hello')])
    t.same(a.choices, b.choices)
  })
})
