import t from 'tap'
import { collectChunks, chunksOfCompletion } from '../../../core/inference/collect-chunks.ts'
import type { Chunk } from '../../../core/ports/upstream.ts'
import { mergedChunk } from '../../../plugins/sealed/enclave/merge-chunks.ts'

const chunk = (delta: string, more: object = {}): Chunk =>
  ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: JSON.parse(delta), finish_reason: null, ...more }],
  }) as Chunk

async function* inRow(...chunks: readonly Chunk[]) {
  yield* chunks
}

/** JSON that would set the prototype of whatever it is copied into. */
const poison = '{"__proto__":{"refusal":"poisoned","polluted":true},"content":"a"}'

t.test('a field that sets a prototype is dropped', async (t) => {
  const whole = await collectChunks(
    inRow(chunk(poison), chunk('{"content":"b","tool_calls":[{"index":0,"__proto__":{"x":1}}]}')),
  )
  const { message } = whole.choices[0]!
  t.equal(message.content, 'ab')
  t.equal((message as { refusal?: unknown }).refusal, undefined)
  t.equal(Object.getPrototypeOf(message), Object.prototype)
  const joined = mergedChunk(chunk('{"content":"b"}'), chunk(poison)).choices[0]!.delta as { refusal?: unknown }
  t.equal(joined.refusal, undefined)
  t.equal(Object.getPrototypeOf(joined), Object.prototype)
  const logs = JSON.parse('{"logprobs":{"__proto__":{"content":["x"]},"refusal":[1]}}') as object
  const lists = mergedChunk(chunk('{}', { logprobs: { refusal: [0] } }), chunk('{}', logs)).choices[0]!.logprobs
  t.equal(Object.getPrototypeOf(lists), Object.prototype)
  t.same((lists as { refusal: unknown }).refusal, [0, 1])
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
})

t.test('pieces become one completion, and it the same answer as a stream', async (t) => {
  const calls = (index: number, text: string, id?: string) =>
    JSON.stringify({ tool_calls: [{ index, ...(id && { id }), function: { arguments: text } }] })
  const whole = await collectChunks(
    inRow(
      chunk('{"role":"assistant","content":"He"}'),
      chunk('{"role":"assistant","content":"ron"}'),
      chunk(calls(1, '[', 'b')),
      chunk(calls(0, '{', 'a')),
      chunk(calls(1, ']')),
      chunk(calls(0, '}')),
      chunk('{}', { finish_reason: 'stop' }),
      { ...chunk('{}'), choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
    ),
  )
  t.match(whole, {
    object: 'chat.completion',
    choices: [
      {
        message: {
          role: 'assistant',
          content: 'Heron',
          tool_calls: [
            { id: 'a', function: { arguments: '{}' } },
            { id: 'b', function: { arguments: '[]' } },
          ],
        },
        finish_reason: 'stop',
      },
    ],
    usage: { total_tokens: 3 },
  })
  t.same(await collectChunks(chunksOfCompletion(whole)), whole)
})

t.test('a broken stream makes no completion', async (t) => {
  async function* broken() {
    yield chunk('{"content":"a"}')
    throw new Error('broken')
  }
  await t.rejects(collectChunks(broken()), { message: 'broken' })
})

t.test('two chunks become one: texts are joined, and what is said once is kept', (t) => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const one = { ...chunk('{"role":"assistant","content":"a"}'), usage }
  const both = mergedChunk(one, chunk('{"role":"assistant","content":"b"}', { finish_reason: 'stop' }))
  t.match(both.choices, [{ delta: { role: 'assistant', content: 'ab' }, finish_reason: 'stop' }])
  t.same(both.usage, usage)
  const other = { ...chunk('{"content":"x"}'), choices: [{ index: 1, delta: { content: 'x' }, finish_reason: null }] }
  t.same(
    mergedChunk(one, other as Chunk).choices.map(({ index }) => index),
    [0, 1],
  )
  t.match(mergedChunk(chunk('{"content":"a"}'), chunk('{"content":null}')).choices[0]!.delta, { content: 'a' })
  t.end()
})

t.test('pieces of calls and of sound become one, and null or an empty text replaces none', (t) => {
  const merged = (...deltas: readonly object[]) =>
    deltas.map((delta) => chunk(JSON.stringify(delta))).reduce(mergedChunk).choices[0]!.delta
  const call = (part: object) => ({ tool_calls: [{ index: 0, ...part }] })
  const begun = call({ id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } })
  for (const nothing of [null, ''])
    t.same(
      merged(
        { role: 'assistant', ...begun },
        { role: nothing, ...call({ id: nothing, type: nothing, function: { name: nothing, arguments: '{"city"' } }) },
        call({ id: nothing, function: { arguments: ':1}' } }),
      ),
      {
        role: 'assistant',
        ...call({ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":1}' } }),
      },
      `with ${JSON.stringify(nothing)}`,
    )
  t.same(
    merged(
      call({ id: 'c2', type: 'custom', custom: { name: 'sql', input: '' } }),
      call({ custom: { input: 'select ' } }),
      call({ custom: { input: '1' } }),
    ),
    call({ id: 'c2', type: 'custom', custom: { name: 'sql', input: 'select 1' } }),
  )
  t.same(
    merged(
      { function_call: { name: 'weather', arguments: '' } },
      { function_call: { arguments: '{"a"' } },
      { function_call: { arguments: ':1}' } },
    ),
    { function_call: { name: 'weather', arguments: '{"a":1}' } },
  )
  t.same(
    merged(
      { audio: { id: 'a', data: 'AA', transcript: 'one ' } },
      { audio: { data: 'BB', transcript: 'two' } },
      { audio: { expires_at: 9 } },
    ),
    { audio: { id: 'a', data: 'AABB', transcript: 'one two', expires_at: 9 } },
  )
  t.end()
})
