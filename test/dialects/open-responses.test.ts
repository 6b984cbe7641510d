import t from 'tap'
import { eventsOf, opened } from '../fakes/doors.ts'
import { scripted } from '../fakes/scripted.ts'

/** The cases of Open Responses' compliance runner by their ids, written anew. */
interface Case {
  readonly id: string
  readonly input: readonly object[]
  readonly tools?: readonly object[]
  readonly stream?: true
  /** The kind of item that the answer must have. */
  readonly has: 'message' | 'function_call'
}

const user = (content: unknown) => ({ type: 'message', role: 'user', content })
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Tells the weather of a place.',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
}
const pixel = 'data:image/png;base64,iVBORw0KGgo='

const cases: readonly Case[] = [
  { id: 'basic-response', input: [user('Greet me.')], has: 'message' },
  { id: 'streaming-response', input: [user('Count to five.')], stream: true, has: 'message' },
  {
    id: 'system-prompt',
    input: [{ type: 'message', role: 'system', content: 'Rhyme.' }, user('Greet me.')],
    has: 'message',
  },
  { id: 'tool-calling', input: [user('Is it raining?')], tools: [weather], has: 'function_call' },
  {
    id: 'tool-calling-streaming',
    input: [user('Is it raining?')],
    tools: [weather],
    stream: true,
    has: 'function_call',
  },
  {
    id: 'image-input',
    input: [
      user([
        { type: 'input_text', text: 'Which colour?' },
        { type: 'input_image', image_url: pixel },
      ]),
    ],
    has: 'message',
  },
  {
    id: 'multi-turn',
    input: [user('I am Ada.'), { type: 'message', role: 'assistant', content: 'Welcome.' }, user('Who am I?')],
    has: 'message',
  },
]

t.test('Open Responses: every case of the compliance runner', async (t) => {
  const it = await opened(
    t,
    scripted((_, [tool]) => (tool === undefined ? [{ say: 'Hello.' }] : [{ call: tool, args: { location: 'Lima' } }])),
  )
  for (const { id, input, tools = [], stream = false, has } of cases) {
    for (const model of ['chat', 'messages', 'gemini']) {
      const answer = await it.call('POST', '/v1/responses', { model, input, tools, stream })
      const events = stream ? eventsOf(await answer.text()) : []
      const response = stream ? events.at(-1).response : await answer.json()
      t.equal(response.status, 'completed', `${id} before ${model}`)
      t.ok(
        response.output.some(({ type }: { type: string }) => type === has),
        `${id} before ${model}: ${has}`,
      )
      if (id !== 'tool-calling-streaming') continue
      const kinds = events.map(({ type, item }) => `${type} ${item?.type ?? ''}`.trim())
      for (const kind of ['output_item.added function_call', 'function_call_arguments.delta'])
        t.ok(kinds.includes(`response.${kind}`), `${id} before ${model}: ${kind}`)
      for (const kind of ['function_call_arguments.done', 'output_item.done function_call'])
        t.ok(kinds.includes(`response.${kind}`), `${id} before ${model}: ${kind}`)
    }
  }
})
