import '../fakes/unwatched.ts'
import t from 'tap'
import { type Doors, eventsOf, opened } from '../fakes/doors.ts'
import type { Take } from '../fakes/recorded.ts'

const messages = [{ role: 'user', content: 'Hi' }]

/** The same answer whole, or as the events of a stream with the end mark of its dialect. */
const taken = (streams: boolean, whole: object, events: readonly object[], end = ''): Take => {
  if (!streams) return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(whole) }
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + end
  return { headers: { 'content-type': 'text/event-stream' }, body }
}

/** What the client of each dialect gets of the answer, whole and as a stream. */
const byAllDoors = async (doors: Doors, model: string, streams = [false, true]) => {
  const contents = [{ parts: [{ text: 'Hi' }] }]
  const answers = await Promise.all(
    streams.flatMap((stream) => [
      doors.call('POST', '/v1/chat/completions', { model, messages, stream }),
      doors.call('POST', '/v1/messages', { model, messages, max_tokens: 9, stream }),
      doors.call('POST', '/v1/responses', { model, input: 'Hi', stream }),
      doors.call('POST', `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, { contents }),
    ]),
  ) // prettier-ignore
  return Promise.all(answers.map(async (answer) => `${answer.status} ${await answer.text()}`))
}

t.test('odd members beside the words of Gemini spoil no answer', async (t) => {
  let [odd, parts]: [object, readonly unknown[]] = [{}, []]
  const answer = () => ({
    candidates: [{ index: 0, content: { parts: [{ text: 'Hi, you' }, ...parts] }, finishReason: 'STOP', ...odd }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 },
  })
  const doors = await opened(t, ({ path }) => taken(path.includes('stream'), answer(), [answer()]))
  const scored = { token: 'Hi', logProbability: -1 }
  const odds = [
    { chosenCandidates: [null, { token: null }, { token: 5, logProbability: null }], topCandidates: null },
    { chosenCandidates: [scored], topCandidates: [null] },
    { chosenCandidates: [scored], topCandidates: [{ candidates: [null, scored] }] },
    ...[5, { chosenCandidates: 5 }, { chosenCandidates: [scored], topCandidates: [{ candidates: {} }] }],
  ]
  for (odd of odds.map((logprobsResult) => ({ logprobsResult })))
    for (const told of await byAllDoors(doors, 'gemini')) t.match(told, /^200 .*Hi, you/s, JSON.stringify(odd))
  odd = {}
  for (parts of [[null], [5], [{ functionCall: null }], [{ inlineData: { mimeType: 5 } }]])
    for (const told of await byAllDoors(doors, 'gemini')) t.match(told, /^200 .*Hi, you/s, JSON.stringify(parts))
  parts = []
  const ask = { model: 'gemini', messages, logprobs: true }
  odd = { logprobsResult: odds[2] }
  const { choices }: any = await (await doors.call('POST', '/v1/chat/completions', ask)).json()
  t.match(choices[0].logprobs.content, [{ token: 'Hi', logprob: -1, top_logprobs: [{ token: 'Hi', logprob: -1 }] }])
})

t.test('a stream of Gemini goes on where its members are null', async (t) => {
  const nothing = { functionCall: null, inlineData: null, thought: null, thoughtSignature: null }
  const said = (text: string, finishReason: string | null) => ({
    ...{ promptFeedback: null, usageMetadata: null },
    candidates: [{ index: 0, content: { parts: [{ text, ...nothing }] }, finishReason, logprobsResult: null }],
  })
  let end: string | null = 'STOP'
  const doors = await opened(t, () => taken(true, {}, [said('Hi, ', null), said('you', end)]))
  const asks = { model: 'gemini', messages, stream: true }
  const text = (await (await doors.call('POST', '/v1/chat/completions', asks)).text()).replace('data: [DONE]\n\n', '')
  t.equal(
    eventsOf(text)
      .map(({ choices }) => choices[0]?.delta.content ?? '')
      .join(''),
    'Hi, you',
  )
  t.notMatch(text, 'error')
  end = null
  t.match(await (await doors.call('POST', '/v1/chat/completions', asks)).text(), /error/, 'a stream without its reason')
})

const chosen = (message: object, finish_reason: string | null = null, more: object = {}) => ({
  ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message, delta: message, finish_reason, ...more }],
})

t.test('odd members beside the words of a chat spoil no answer', async (t) => {
  let [message, more]: [object, object] = [{}, {}]
  const doors = await opened(t, ({ body }) => {
    const answer = chosen({ role: 'assistant', content: 'Hi, you', ...message }, 'stop', more)
    return taken(JSON.parse(body.toString()).stream === true, answer, [answer], 'data: [DONE]\n\n')
  })
  const thought = { type: 'thinking', thinking: [null, { text: 'Hm.' }] }
  const members = [
    ...[5, {}, true, [null], [5]].flatMap((odd) => [{ tool_calls: odd }, { annotations: odd }]),
    ...[[null, { type: 'text', text: 'Hi, you' }], [thought, { type: 'text', text: 'Hi, you' }]].map((content) => ({ content })),
  ] // prettier-ignore
  for (message of members)
    for (const told of await byAllDoors(doors, 'chat')) t.match(told, /^200 .*Hi, you/s, JSON.stringify(message))
  message = {}
  for (const odd of [5, { content: 5 }, { content: [null] }, { content: {} }]) {
    more = { logprobs: odd }
    for (const told of await byAllDoors(doors, 'chat')) t.match(told, /^200 .*Hi, you/s, JSON.stringify(more))
  }
})

t.test('what is no block of Messages and no item of Responses spoils no answer, and reaches no client', async (t) => {
  const text = { type: 'text', text: 'Hi, you' }
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', usage: { input_tokens: 5 } }
  const part = { type: 'output_text', text: 'Hi, you', annotations: [] }
  const item = { type: 'message', id: 'm1', role: 'assistant', content: [part] }
  const doors = await opened(t, ({ path }) =>
    path.endsWith('/messages')
      ? taken(false, { ...head, content: [null, text, 5], stop_reason: 'end_turn' }, [])
      : taken(false, { id: 'r1', object: 'response', status: 'completed', output: [null, item, 5] }, []),
  )
  for (const model of ['messages', 'responses'])
    for (const told of await byAllDoors(doors, model, [false])) t.match(told, /^200 .*Hi, you/s, model)
  const message: any = await (
    await doors.call('POST', '/v1/messages', { model: 'messages', messages, max_tokens: 9 })
  ).json()
  t.match(message.content, [text])
  for (const store of [undefined, false]) {
    const answer: any = await (
      await doors.call('POST', '/v1/responses', { model: 'responses', input: 'Hi', store })
    ).json()
    t.notOk(answer.output.includes(null))
    t.match(answer.output[0], item)
  }
})

t.test(
  'null in a stream of Messages is nothing, and a block that is none leaves the call to another backend',
  async (t) => {
    const head = { type: 'message', role: 'assistant', model: 'm', content: [null], usage: { input_tokens: 5 } }
    let [delta, content_block]: [unknown, unknown] = [null, { type: 'text', text: '' }]
    const doors = await opened(
    t,
    ({ path }) =>
      path.endsWith('/completions')
        ? taken(true, {}, [chosen({ content: 'Hi, you' }, 'stop')], 'data: [DONE]\n\n')
        : taken(true, {}, [
            { type: 'message_start', message: head },
            { type: 'content_block_start', index: 0, content_block },
            { type: 'content_block_delta', index: 0, delta },
            { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi, you' } },
            { type: 'content_block_stop', index: 0 },
            { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
            { type: 'message_stop' },
          ]),
    {},
    { routing: { retries: 0 }, models: { alone: { upstreams: [{ provider: 'messages', model: 'claude-opus-4-8' }] }, several: { upstreams: [{ provider: 'messages', model: 'claude-opus-4-8' }, { provider: 'chat', model: 'gpt', priority: 2 }] } } },
  ) // prettier-ignore
    for (delta of [null, undefined, { type: 'text_delta', text: null }])
      for (const told of await byAllDoors(doors, 'several', [true]))
        t.match(told, /^200 (?!.*"error":\{).*Hi, you/s, `${delta}`)
    const asks = { model: 'several', messages, stream: true }
    const told = await (await doors.call('POST', '/v1/chat/completions', asks)).text()
    t.equal(doors.backend.asked.filter(({ path }) => path.endsWith('/completions')).length, 0)
    t.notMatch(told, 'undefined', 'an answer without an id has no such word')
    content_block = null
    const second = await (await doors.call('POST', '/v1/chat/completions', asks)).text()
    t.match(second, 'Hi, you')
    t.equal(doors.backend.asked.filter(({ path }) => path.endsWith('/completions')).length, 1)
    const alone = await doors.call('POST', '/v1/chat/completions', { ...asks, model: 'alone' })
    t.match(await alone.text(), 'Upstream service failed', 'the fault is the one of the backend')
  },
)

t.test('null among the blocks of Converse spoils no answer', async (t) => {
  const output = { message: { role: 'assistant', content: [null, { text: 'Hi, you' }] } }
  const doors = await opened(t, () => taken(false, { output, stopReason: 'end_turn', usage: {} }, []), { converse: 'converse' }) // prettier-ignore
  for (const told of await byAllDoors(doors, 'converse', [false])) t.match(told, /^200 .*Hi, you/s)
})
