import '../fakes/unwatched.ts'
import t from 'tap'
import { behind, opened } from '../fakes/doors.ts'

const user = { role: 'user', content: 'Hi' }
const free = { type: 'custom', custom: { name: 'write', description: 'Takes any text.' } }
const written = { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'write', input: 'x' } }] } // prettier-ignore
const result = { role: 'tool', tool_call_id: 'c', content: 'done' }
const older = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }

/** The status of an answer and its words, and whether a backend was reached. */
const chatted = async (t: Parameters<typeof opened>[0]) => {
  const doors = await opened(t, () => ({ status: 429, body: '{}' }), { converse: 'converse' })
  return async (model: string, messages: readonly unknown[], more: object = {}) => {
    const reached = doors.backend.asked.length
    const answer = await doors.call('POST', '/v1/chat/completions', { model, messages, ...more })
    const { error } = (await answer.json()) as { error: { message: string } }
    return { status: answer.status, message: error.message, isReached: doors.backend.asked.length > reached }
  }
}

t.test('tools of free text reach backends that know them, and others refuse the chat', async (t) => {
  const chat = await chatted(t)
  for (const model of behind)
    for (const [messages, more] of [
      [[user], { tools: [free] }],
      [[user, written, result], {}],
    ] as const) {
      const isKnown = model === 'chat' || model === 'responses'
      const told = isKnown ? { status: 429, isReached: true } : { status: 400, message: /functions/, isReached: false }
      t.match(await chat(model, messages, more), told, model)
      t.match(await chat(model, messages, { ...more, temperature: 0.5 }), told, `${model} again`)
    }
})

t.test('functions, the older form of tools, are refused where the backend does not know them', async (t) => {
  const chat = await chatted(t)
  for (const model of behind)
    for (const messages of [
      [user, older],
      [user, { role: 'function', name: 'f', content: 'done' }],
    ]) {
      const told = model === 'chat' ? { status: 429 } : { status: 400, message: /not functions/ }
      t.match(await chat(model, messages), told, model)
    }
})

t.test('calls that are null are none, and what is no list of calls is no fault of the gateway', async (t) => {
  const chat = await chatted(t)
  for (const model of behind) {
    t.match(await chat(model, [user, { role: 'assistant', content: 'Hi', tool_calls: null }, user]), { status: 429 })
    for (const tool_calls of [{}, [null], [{ id: 'c' }], 5]) {
      const { status } = await chat(model, [user, { role: 'assistant', content: 'Hi', tool_calls }, user])
      t.ok(status === 400 || (model === 'chat' && status === 429), `${model} ${JSON.stringify(tool_calls)} ${status}`)
    }
  }
})

t.test('members that are null or of another form are no fault of the gateway', async (t) => {
  const chat = await chatted(t)
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const called = { role: 'assistant', content: null, tool_calls: [{ id: 7, type: 'function', function: { name: 'f', arguments: '{}' } }] } // prettier-ignore
  for (const model of behind) {
    t.match(await chat(model, [{ role: 'user', content: [{ ...picture, text: null }] }]), { status: 429 }, model)
    const known = [user, called, { role: 'tool', tool_call_id: 7, content: 'done' }]
    t.match(await chat(model, known), { status: 429 }, `${model} knows numbers as ids`)
    for (const [messages, more] of [
      [[{ role: 'user', content: [{ type: 'text', text: 5 }] }], {}],
      [[user], { tools: [null] }],
      [[user], { tools: 5, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } }],
    ] as const) {
      const { status } = await chat(model, messages, more)
      t.ok(status === 400 || status === 429, `${model} ${JSON.stringify({ messages, more })} ${status}`)
    }
  }
})
