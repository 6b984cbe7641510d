import '../fakes/unwatched.ts'
import t from 'tap'
import { opened } from '../fakes/doors.ts'
import type { Take } from '../fakes/recorded.ts'

const json = { 'content-type': 'application/json' }
const messages = [{ role: 'user', content: 'Hi' }]

/** A whole answer, in the bytes of a backend. */
const answer = (...choices: readonly string[]): Take => ({
  headers: json,
  body: `{"id":"1","object":"chat.completion","created":1.0,"model":"m","choices":[${choices.join(', ')}]}`,
})
const words = '"role": "assistant", "content": "\\"message\\":{\\"a\\":1}"'

t.test(
  'each choice of a relayed answer says whether it has odds and a refusal, in the bytes of the backend',
  async (t) => {
    let playing = answer()
    const doors = await opened(t, () => playing)
    const ask = async (...choices: readonly string[]) => {
      playing = answer(...choices)
      const response = await doors.call('POST', '/v1/chat/completions', { model: 'chat', messages })
      return response.text()
    }
    const bare = `{"index":0, "message" : {${words}},"finish_reason":"stop"}`
    const added = `{"index":0, "logprobs":null,"message":{"refusal":null,${words}},"finish_reason":"stop"}`
    t.match(await ask(bare), added.slice(1, -1), 'both are added where they lack')
    t.match(await ask(bare), '"created":1.0', 'and no other byte changes')
    const whole = `{"index":0,"message":{${words}, "refusal": null},"logprobs" : null,"finish_reason":"stop"}`
    t.match(await ask(whole), whole, 'an answer that has them is not touched')
    const odds = `{"index":0,"message":{${words}},"logprobs" : {"content":[]},"finish_reason":"stop"}`
    t.match(
      await ask(odds),
      `"message":{"refusal":null,${words}},"logprobs" : {"content":[]}`,
      'nor odds that are there',
    )
    const differing = await ask(bare, whole.replace('"index":0', '"index":1'))
    t.equal(differing.match(/"refusal"/g)?.length, 2, 'no member stands twice')
    const { choices } = JSON.parse(differing)
    for (const { logprobs, message } of choices)
      t.same([logprobs, message.refusal, message.content], [null, null, '"message":{"a":1}'], 'choices may differ')
    const beside = `{"index":0,"message":{${words},"of":{"message":{"a":1}}},"finish_reason":"stop"}`
    const [mixed] = JSON.parse(await ask(beside)).choices
    t.same(mixed.message, { refusal: null, role: 'assistant', content: '"message":{"a":1}', of: { message: { a: 1 } } })
  },
)

t.test('a message of chat completions cites pages alone', async (t) => {
  const file = { type: 'file_citation', file_id: 'f', filename: 'a.pdf', index: 1 }
  const page = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 }
  const text = { type: 'output_text', text: 'Hi', annotations: [file, page], logprobs: [] }
  const output = [{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [text] }]
  const response = { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed', output }
  const doors = await opened(t, () => ({ headers: json, body: JSON.stringify(response) }))
  const chat = await doors.call('POST', '/v1/chat/completions', { model: 'responses', messages })
  const { type, ...rest } = page
  t.same((await chat.json()).choices[0].message.annotations, [{ type, url_citation: rest }])
})

t.test('a stream that breaks ends with an error in the words of OpenAI', async (t) => {
  const chunk = { id: '1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const choices = [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }]
  const doors = await opened(t, () => ({
    headers: { 'content-type': 'text/event-stream' },
    body: `data: ${JSON.stringify({ ...chunk, choices })}\n\ndata: {"error":{"message":"x","code":503}}\n\n`,
  }))
  const response = await doors.call('POST', '/v1/chat/completions', { model: 'chat', messages, stream: true })
  const last = (await response.text()).trim().split('\n').at(-1)!
  const { code, type, param } = JSON.parse(last.slice(6)).error
  t.strictSame({ code, type, param }, { code: '503', type: 'upstream_error', param: null })
})
