import { deepEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import * as v from 'valibot'
import {
  ChatRequest,
  printChunk,
  printCompletion,
  split,
  usageOf,
  wireUsage,
} from '../../../core/dialects/chat-completions.ts'
import { asksUsage, withoutUsage } from '../../../plugins/shared/repeated-chunks.ts'
import { collectChunks, chunksOfCompletion } from '../../../core/inference/collect-chunks.ts'
import type { Chunk, Completion } from '../../../core/ports/upstream.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const accepts = (value: unknown) => v.safeParse(ChatRequest, value).success

t.test('which requests are taken', async (t) => {
  for (const role of ['system', 'developer', 'user', 'assistant', 'tool', 'function']) {
    t.ok(accepts({ model: 'm', messages: [{ role, content: 'x' }] }), role)
  }
  const part = { type: 'image_url', image_url: { url: 'data:,' } }
  t.ok(accepts({ model: 'm', messages: [{ role: 'user', content: [part, { type: 'text', text: 'x' }] }] }))
  t.ok(accepts({ model: 'm', messages: [{ role: 'assistant', content: null, tool_calls: [] }] }))
  t.ok(accepts({ model: 'm'.repeat(256), messages, provider: 'a'.repeat(64), stream: null, temperature: 'odd' }))
  const wrong: [string, unknown][] = [
    ['no messages', { model: 'm' }],
    ['empty messages', { model: 'm', messages: [] }],
    ['a message that is none', { model: 'm', messages: ['x'] }],
    ['an unknown role', { model: 'm', messages: [{ role: 'wizard', content: 'x' }] }],
    ['no role', { model: 'm', messages: [{ content: 'x' }] }],
    ['content of another kind', { model: 'm', messages: [{ role: 'user', content: 7 }] }],
    ['a part without a type', { model: 'm', messages: [{ role: 'user', content: [{ text: 'x' }] }] }],
    ['no model', { messages }],
    ['an empty model', { model: '', messages }],
    ['a long model', { model: 'm'.repeat(257), messages }],
    ['a stream that is no boolean', { model: 'm', messages, stream: 'yes' }],
    ...['A', '-a', 'a_b', 'a'.repeat(65), 'a\n'].map((provider): [string, unknown] => [
      `provider ${JSON.stringify(provider)}`,
      { model: 'm', messages, provider },
    ]),
  ]
  for (const [name, request] of wrong) t.notOk(accepts(request), name)
})

t.test('everything else goes through untouched', async (t) => {
  const request = {
    model: 'm',
    messages: [{ ...messages[0], name: 'x', cache_control: { a: 1 } }],
    n: 2,
    nobody_knows: [{}],
  }
  const checked = v.parse(ChatRequest, { ...request, stream: true, provider: 'one' })
  const { model: _, ...body } = request
  t.same(split(checked), { model: 'm', provider: 'one', stream: true, body })
  t.same(split(v.parse(ChatRequest, request)), { model: 'm', provider: null, stream: false, body })
})

t.test('a message of text alone is taken as it is, not copied', async (t) => {
  const taken = v.parse(ChatRequest, { model: 'm', messages })
  t.equal(taken.messages[0], messages[0])
})

t.test('usage', async (t) => {
  const usage = { input: 3, output: 2, reasoning: 1, cached: 2, estimated: true }
  t.same(usageOf(wireUsage(usage)), usage)
  t.same(wireUsage({ input: 3, output: 2 }), { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 })
  t.equal(usageOf(null), null)
  t.equal(usageOf(undefined), null)
  t.equal(usageOf({ prompt_tokens: -1, completion_tokens: 0.5, total_tokens: 0 }), null)
  t.same(usageOf({ prompt_tokens: 4 } as never), { input: 4, output: 0 })
  t.equal(asksUsage({ messages: [], stream_options: { include_usage: true } }), true)
  t.equal(asksUsage({ messages: [], stream_options: null }), false)

  const chunk: Chunk = { id: '1', object: 'o', created: 1, model: 'theirs', choices: [], usage: wireUsage(usage) }
  t.equal(withoutUsage(chunk), null)
  const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }]
  t.same(withoutUsage({ ...chunk, choices }), { id: '1', object: 'o', created: 1, model: 'theirs', choices })
  t.match(JSON.parse(printChunk(chunk, 'ours')), { model: 'ours', id: '1' })
  t.match(JSON.parse(printCompletion({ ...chunk, choices: [] }, 'ours')), { model: 'ours', id: '1' })
})

const head = { id: '1', object: 'chat.completion.chunk', created: 1, model: 'm' }

async function* stream(...parts: readonly Record<string, unknown>[]): AsyncGenerator<Chunk> {
  for (const part of parts) yield { ...head, ...part } as unknown as Chunk
}

const delta = (delta: object, more: object = {}, index = 0) => ({
  choices: [{ index, delta, finish_reason: null, ...more }],
})

t.test('folds choices, tool calls, thoughts, log-probabilities and what nobody knows', async (t) => {
  const whole = await collectChunks(
    stream(
      delta(
        { role: 'assistant', content: '' },
        { logprobs: { content: [{ token: 'a', logprob: -1 }], refusal: null } },
      ),
      delta({ content: 'two', role: null }, {}, 1),
      delta({ reasoning_content: 'h' }),
      delta(
        { reasoning_content: 'm', content: 'on' },
        { logprobs: { content: [{ token: 'b', logprob: -2 }], refusal: null } },
      ),
      delta({ content: 'e', refusal: null }, { logprobs: null }),
      delta({ tool_calls: [{ index: 1, id: 'c1', type: 'function', function: { name: 'g', arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, id: 'c0', type: 'function', function: { name: 'f', arguments: '{' } }] }),
      delta({ tool_calls: [{ index: 1, id: null, function: { name: null, arguments: '[]' } }] }),
      delta({
        tool_calls: [{ index: 0, function: { arguments: '}' } }],
        audio: { id: 'a', data: 'AA', transcript: 'x' },
      }),
      delta({ audio: { data: 'BB', transcript: 'y', expires_at: 9 }, mood: 'calm', marks: [1] }),
      delta({ mood: 'glad', marks: [2] }, { finish_reason: 'tool_calls', matched_stop: 7 }),
      delta({}, { finish_reason: 'stop' }, 1),
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }, tier: 'x' },
      { choices: [], usage: null },
    ),
  )
  t.same(whole, {
    id: '1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    tier: 'x',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'one',
          reasoning_content: 'hm',
          refusal: null,
          tool_calls: [
            { id: 'c0', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c1', type: 'function', function: { name: 'g', arguments: '[]' } },
          ],
          audio: { id: 'a', data: 'AABB', transcript: 'xy', expires_at: 9 },
          mood: 'glad',
          marks: [1, 2],
        },
        finish_reason: 'tool_calls',
        logprobs: {
          content: [
            { token: 'a', logprob: -1 },
            { token: 'b', logprob: -2 },
          ],
          refusal: null,
        },
        matched_stop: 7,
      },
      { index: 1, message: { role: 'assistant', content: 'two' }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  })
})

t.test('tool calls without an index are told apart by their ids', async (t) => {
  const call = (id: string | undefined, args: string) =>
    delta({ tool_calls: [{ ...(id && { id }), function: { ...(id && { name: id }), arguments: args } }] })
  const { choices } = await collectChunks(
    stream(call('a', '1'), call(undefined, '2'), call('b', '3'), call('b', '4'), call('a', '5')),
  )
  t.same(choices[0]!.message.tool_calls, [
    { id: 'a', function: { name: 'a', arguments: '125' } },
    { id: 'b', function: { name: 'b', arguments: '34' } },
  ])
})

t.test('what the chunks throw is thrown, and no field reaches a prototype', async (t) => {
  const broken = async function* () {
    yield* stream(delta({ content: 'x' }))
    throw new Error('cut')
  }
  await t.rejects(collectChunks(broken()), { message: 'cut' })
  await collectChunks(
    stream(
      delta(
        JSON.parse(
          '{"__proto__":{"polluted":1},"audio":{"__proto__":{"polluted":1}},"constructor":{"prototype":{"polluted":1}}}',
        ),
      ),
    ),
  )
  t.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

t.test('folding what was unfolded gives it back', async () => {
  const tool_calls = fc.array(
    fc.record({
      id: fc.uuid(),
      type: fc.constant('function'),
      function: fc.record({ name: fc.string(), arguments: fc.string() }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  const message = fc.record(
    {
      role: fc.constant('assistant'),
      content: fc.option(fc.string()),
      reasoning_content: fc.string(),
      refusal: fc.option(fc.string()),
      tool_calls,
    },
    { requiredKeys: ['role', 'content'] },
  )
  const choice = fc.record({
    message,
    finish_reason: fc.option(fc.constantFrom('stop', 'length')),
    logprobs: fc.constantFrom(null, { content: [{ token: 'a' }], refusal: null }),
  })
  const completion = fc
    .record({
      id: fc.string(),
      created: fc.nat(),
      model: fc.string(),
      usage: fc.constantFrom(undefined, null, wireUsage({ input: 1, output: 2 })),
      choices: fc.array(choice, { minLength: 1, maxLength: 3 }),
    })
    .map(({ usage, choices, ...rest }) => ({
      ...rest,
      object: 'chat.completion',
      system_fingerprint: 'fp',
      choices: choices.map((choice, index) => ({ index, ...choice })),
      ...(usage !== undefined && { usage }),
    }))
  await fc.assert(
    fc.asyncProperty(completion, async (answer) => {
      deepEqual(
        structuredClone(await collectChunks(chunksOfCompletion(answer as unknown as Completion))),
        structuredClone(answer),
      )
    }),
    { numRuns: 100 },
  )
})
