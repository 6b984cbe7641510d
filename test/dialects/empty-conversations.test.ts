import '../fakes/unwatched.ts'
import t from 'tap'
import { backends, behind, type Doors, opened } from '../fakes/doors.ts'
import { scripted } from '../fakes/scripted.ts'

const hello = scripted(() => [{ say: 'Hello' }])
const chat = '/v1/chat/completions'
const system = { role: 'system', content: 'Greet.' }
const greeting = [{ role: 'user', content: 'Hi' }]
const f = { type: 'function', function: { name: 'f' } }

/** Backends that refuse a conversation without a turn of the user, and a choice without tools. */
const strict = ['messages', 'gemini', 'converse'] as const

const doors = (t: Parameters<typeof opened>[0]) => opened(t, hello, { converse: 'converse' })

/** The instructions as the one turn of the user, by the backend. */
const alone = {
  messages: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Greet.' }] }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Greet.' }] }] },
  converse: { messages: [{ role: 'user', content: [{ text: 'Greet.' }] }] },
}

/** The status, and the member that the error names. */
const refused = async (gateway: Doors, path: string, body: object): Promise<readonly unknown[]> => {
  const before = gateway.backend.asked.length
  const response = await gateway.call('POST', path, body)
  const { error } = JSON.parse(await response.text())
  return [response.status, error?.param, error?.message, gateway.backend.asked.length - before]
}

t.test('instructions without any turn are a turn of the user for backends that want one', async (t) => {
  const gateway = await doors(t)
  for (const model of strict)
    for (const [path, body] of [
      [chat, { messages: [system] }],
      [chat, { messages: [system, { role: 'user', content: '' }] }],
      ['/v1/responses', { instructions: 'Greet.', input: [] }],
    ] as const) {
      t.equal((await gateway.call('POST', path, { model, ...body })).status, 200, `${model} ${path}`)
      const sent = gateway.asked()
      t.match(sent, alone[model], model)
      t.strictSame([sent.system, sent.systemInstruction], [undefined, undefined], 'and stand once')
    }
})

t.test('instructions beside a turn of the user stay instructions', async (t) => {
  const gateway = await doors(t)
  for (const model of strict) {
    await gateway.call('POST', chat, { model, messages: [system, ...greeting] })
    const { system: text, systemInstruction } = gateway.asked()
    t.match(JSON.stringify(text ?? systemInstruction), /Greet/, model)
  }
})

t.test('a conversation in which nothing stands is refused before a backend is asked', async (t) => {
  const gateway = await doors(t)
  const empty = 'The conversation is empty: the model needs a message'
  for (const model of strict) {
    const body = { model, messages: [{ role: 'user', content: '' }] }
    t.strictSame(await refused(gateway, chat, body), [400, null, empty, 0], model)
  }
  const input = ['input', 'Validation failed: input: Expected a message'] as const
  for (const model of behind.filter((name) => name !== 'responses'))
    t.strictSame(await refused(gateway, '/v1/responses', { model, input: [] }), [400, ...input, 0], model)
  const turn = 'Validation failed: messages: Expected a turn with content'
  for (const model of behind.filter((name) => name !== 'messages')) {
    const body = { model, max_tokens: 9, messages: [{ role: 'user', content: [] }] }
    t.strictSame(await refused(gateway, '/v1/messages', body), [400, undefined, turn, 0], model)
  }
})

t.test('an empty message goes on to backends that take one', async (t) => {
  const gateway = await doors(t)
  for (const model of backends.slice(0, 2)) {
    const response = await gateway.call('POST', chat, { model, messages: [{ role: 'user', content: '' }] })
    t.equal(response.status, 200, model)
  }
})

t.test('a choice without tools is left out, and a wanted call is refused', async (t) => {
  const gateway = await doors(t)
  const fault = 'Validation failed: tool_choice: Expected tools from which the model may choose'
  const others = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [f] } }
  for (const model of strict) {
    for (const tool_choice of ['auto', 'none']) {
      t.equal(
        (await gateway.call('POST', chat, { model, messages: greeting, tools: [], tool_choice })).status,
        200,
        model,
      )
      t.notMatch(JSON.stringify(gateway.asked()), /tool/i, `${model} ${tool_choice}`)
    }
    for (const tool_choice of ['required', f, others])
      t.strictSame(
        await refused(gateway, chat, { model, messages: greeting, tool_choice }),
        [400, 'tool_choice', fault, 0],
        model,
      )
    await gateway.call('POST', chat, { model, messages: greeting, tools: [f], tool_choice: 'required' })
    t.match(JSON.stringify(gateway.asked()), /any/i, `${model} may be made to call a tool`)
  }
})
