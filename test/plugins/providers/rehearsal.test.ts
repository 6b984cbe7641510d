import t from 'tap'
import { collectChunks, chunksOfCompletion } from '../../../core/inference/collect-chunks.ts'
import { clock } from '../../../adapters/memory/platform.ts'
import { use } from '../../../core/plugin.ts'
import { Upstream, type ChatCall } from '../../../core/ports/upstream.ts'
import rehearsal from '../../../plugins/providers/rehearsal.ts'
import { conform } from '../../contracts/contract.ts'
import { upstream, type Scene, type Stage } from '../../contracts/upstream.ts'
import { fitted } from '../../fitted.ts'
import { never, whole } from '../../fakes/vendor.ts'

const backend = fitted(use(rehearsal), use(clock)).supply({ upstreams: Upstream }).upstreams[0]!
const ask = async (content: string, more: object = {}, stream = false, prefix?: string) => {
  const body = { messages: [{ role: 'user', content }], ...more }
  const answer = await backend.chat!(
    { model: 'rehearsal', body, stream, ...(prefix !== undefined && { prefix }) },
    never,
  )
  return whole(answer)
}

const tools = [
  { type: 'function', function: { name: 'weather', parameters: { properties: { city: { type: 'string' } } } } },
]

/** There is no backend behind it: of all scenes it can play the two good ones. */
const stage = (): Stage => {
  let scene: Scene = 'answers'
  const offered = [...tools, ...tools]
  return {
    model: 'rehearsal',
    scene: (to) => void (scene = to),
    asked: () => ({}),
    sockets: async () => 0,
    upstream: {
      ...backend,
      chat: (call: ChatCall, signal) =>
        backend.chat!(scene === 'calls tools' ? { ...call, body: { ...call.body, tools: offered } } : call, signal),
    },
  }
}

const none = 'it has no backend that could break'

t.test('the provider keeps the contract of upstreams', (t) =>
  conform(t, upstream.contract, stage, {
    'calls tools in a stream as in one piece': 'it calls one tool, with what was said last',
    'says the same however its bytes arrive': none,
    'a stream that is cut throws, wherever it is cut': none,
    'an answer in one piece that is cut throws': none,
    'stops while it waits for an answer': 'it answers at once',
    'stops in the middle of a stream': 'it answers at once',
    'lets go of a stream that is left': none,
    'a refusal is the caller’s, without a word of the backend': none,
    'too many requests: again, and when': none,
    'its own failures and our credentials are not the caller’s fault': none,
    'fields that nobody knows go through, both ways': none,
    'a page instead of an answer is a failure': none,
    'an error inside a stream throws, behind what came before': none,
  }),
)

t.test('the answer says that it is a rehearsal, and repeats word by word', async (t) => {
  const answer = await ask('How are  you?\n')
  t.equal(
    answer.choices[0]!.message.content,
    'This is a rehearsal: no model was asked. The last message was: How are  you?\n',
  )
  t.same(await ask('How are  you?\n'), answer)
  t.same(await ask('How are  you?\n', {}, true), answer)
  t.not((await ask('Other')).id, answer.id)
  const streamed = await backend.chat!(
    { model: 'rehearsal', stream: true, body: { messages: [{ role: 'user', content: 'Hi' }] } },
    never,
  )
  const pieces: unknown[] = []
  if (streamed.kind === 'chunks')
    for await (const { choices } of streamed.chunks) pieces.push(choices[0]?.delta.content)
  t.same(pieces.slice(1, 5), ['This', ' is', ' a', ' rehearsal:'])
  t.same(answer.usage, { prompt_tokens: 4, completion_tokens: 16, total_tokens: 20 })
})

t.test('answers obey limits, prefixes, JSON and tools', async (t) => {
  const short = await ask('Hi', { max_tokens: 3 })
  t.match(short.choices[0], { message: { content: 'This is a' }, finish_reason: 'length' })
  t.equal(short.usage!.completion_tokens, 3)
  const whole = String((await ask('Hi')).choices[0]!.message.content)
  for (let at = 0; at <= whole.length; at++) {
    t.equal((await ask('Hi', {}, true, whole.slice(0, at))).choices[0]!.message.content ?? '', whole.slice(at))
  }
  const { choices } = await ask('Hi', { response_format: { type: 'json_object' } })
  t.match(JSON.parse(String(choices[0]!.message.content)), { rehearsal: true, last: 'Hi' })
  for (const stream of [false, true]) {
    const called = await ask('Lima', { tools }, stream)
    t.match(called.choices[0], {
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ type: 'function', function: { name: 'weather', arguments: '{"city":"Lima"}' } }],
      },
    })
  }
  t.equal((await ask('Lima', { tools, tool_choice: 'none' })).choices[0]!.finish_reason, 'stop')
  const told = await backend.chat!(
    { model: 'm', stream: false, body: { tools, messages: [{ role: 'tool', content: 'sunny' }] } },
    never,
  )
  t.match(told, { completion: { choices: [{ message: { content: /sunny$/ } }] } })
  t.same(await collectChunks(chunksOfCompletion(short)), short)
})

t.test('the stream stops between two words', async (t) => {
  const controller = new AbortController()
  const answer = await backend.chat!(
    { model: 'm', stream: true, body: { messages: [{ role: 'user', content: 'x' }] } },
    controller.signal,
  )
  const reason = new Error('enough')
  const reading = async () => {
    if (answer.kind === 'chunks') for await (const _ of answer.chunks) controller.abort(reason)
  }
  t.equal(await reading().catch((fault) => fault), reason)
  t.equal(await backend.models(controller.signal).catch((fault) => fault), reason)
})

t.test('vectors of texts with common words are near each other', async (t) => {
  const texts = ['The cat sat on the mat', 'the CAT sat on a mat!', 'Quarterly revenue grew', '', '!!!']
  const { vectors, usage } = await backend.embed!({ model: 'rehearsal-embedding', texts }, never)
  const near = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, at) => sum + x * b[at]!, 0)
  t.ok(near(vectors[0]!, vectors[1]!) > 0.6)
  t.ok(near(vectors[0]!, vectors[2]!) < 0.3)
  for (const one of vectors) t.ok(Math.abs(near(one, one) - 1) < 1e-5, 'of length 1')
  t.same((await backend.embed!({ model: 'm', texts }, never)).vectors, vectors)
  t.equal((await backend.embed!({ model: 'm', texts: ['a'], dimensions: 8 }, never)).vectors[0]!.length, 8)
  t.same(usage, { input: 16, output: 0 })
  const longest = await backend.embed!({ model: 'm', texts: ['a'], dimensions: 4096 }, never)
  t.equal(longest.vectors[0]!.length, 4096)
  const longer = await backend.embed!({ model: 'm', texts: ['a'], dimensions: 4097 }, never).catch((fault) => fault)
  t.match(longer, { status: 400, validator: { dimensions: 'Expected at most 4096' } }, 'no vector stalls the loop')
})

t.test('an answer tells when it was made, whole and in a stream', async (t) => {
  for (const stream of [false, true]) {
    const before = Math.floor(Date.now() / 1000)
    const { created } = await ask('When?', {}, stream)
    t.ok(Number(created) >= before && Number(created) <= Date.now() / 1000, `${created}`)
  }
})
