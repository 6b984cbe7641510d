import t from 'tap'
import { eventsOf, opened } from '../fakes/doors.ts'
import { scripted } from '../fakes/scripted.ts'
import { connected } from '../fakes/web-sockets.ts'

/** A case of Open Responses' compliance runner by its id, written anew. Its releases have different cases; here are those of all. */
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
const page = `data:application/pdf;base64,${Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64')}`
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
    id: 'file-input',
    input: [
      user([
        { type: 'input_text', text: 'Which title?' },
        { type: 'input_file', filename: 'page.pdf', file_data: page },
      ]),
    ],
    has: 'message',
  },
  {
    id: 'function-call-roundtrip',
    input: [
      user('Is it raining?'),
      { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"location":"Lima"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '{"rain":false}' },
    ],
    has: 'message',
  },
  {
    id: 'multi-turn',
    input: [user('I am Ada.'), { type: 'message', role: 'assistant', content: 'Welcome.' }, user('Who am I?')],
    has: 'message',
  },
]

/** Members that the schema of the runner requires of every response. */
const required =
  'background completed_at created_at error frequency_penalty id incomplete_details instructions max_output_tokens ' +
  'max_tool_calls metadata model object output parallel_tool_calls presence_penalty previous_response_id ' +
  'prompt_cache_key reasoning safety_identifier service_tier status store temperature text tool_choice tools ' +
  'top_logprobs top_p truncation usage'

t.test('Open Responses: the cases of the compliance runner', async (t) => {
  const doors = await opened(
    t,
    scripted((turn, [tool]) =>
      tool === undefined || turn > 0 ? [{ say: 'Hello.' }] : [{ call: tool, args: { location: 'Lima' } }],
    ),
  )
  for (const { id, input, tools = [], stream = false, has } of cases) {
    for (const model of ['chat', 'messages', 'gemini']) {
      const answer = await doors.call('POST', '/v1/responses', { model, input, tools, stream })
      const events = stream ? eventsOf(await answer.text()) : []
      const response = stream ? events.at(-1).response : await answer.json()
      const name = `${id} before ${model}`
      t.equal(response.status, 'completed', name)
      t.same(
        required.split(' ').filter((member) => !(member in response)),
        [],
        `${name}: every required member`,
      )
      t.ok(
        response.output.some(({ type }: { type: string }) => type === has),
        `${name}: ${has}`,
      )
      if (stream) t.ok(isNumbered(events), `${name}: events with types, in their order`)
      if (id === 'file-input')
        t.match(doors.backend.asked.at(-1)!.body.toString(), page.slice(-20), `${name}: the file`)
      if (id === 'function-call-roundtrip')
        t.match(doors.backend.asked.at(-1)!.body.toString(), 'rain', `${name}: the result`)
      if (id !== 'tool-calling-streaming') continue
      const kinds = events.map(({ type, item }) => `${type} ${item?.type ?? ''}`.trim())
      for (const kind of ['output_item.added function_call', 'function_call_arguments.delta'])
        t.ok(kinds.includes(`response.${kind}`), `${name}: ${kind}`)
      for (const kind of ['function_call_arguments.done', 'output_item.done function_call'])
        t.ok(kinds.includes(`response.${kind}`), `${name}: ${kind}`)
    }
  }
})

const isNumbered = (events: readonly { type?: unknown; sequence_number?: unknown }[]): boolean =>
  events.every(({ type, sequence_number }, at) => typeof type === 'string' && sequence_number === at)

/** Cases that the gateway does not pass, each with what it does in its place. */
const others: Readonly<Record<string, readonly [body: object, status: number, told: object]>> = {
  // Nothing is stored, so there is no earlier response to go on from.
  'previous-response-id': [
    { input: 'Which word?', previous_response_id: 'resp_1' },
    400,
    { error: { code: 'state_not_supported', param: 'previous_response_id' } },
  ],
  // A vector store at a vendor would be shared by all callers of one provider key.
  'file-search': [
    { input: 'Search.', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
    400,
    { error: { code: 'state_not_supported', param: 'tools.0.vector_store_ids' } },
  ],
  // A tool that the vendor runs is refused where a request forces it.
  'offline-web-search': [
    {
      input: 'Search.',
      tools: [{ type: 'web_search', external_web_access: false }],
      tool_choice: { type: 'web_search' },
    },
    400,
    { error: { code: 'server_tool_refused', param: 'tools.0' } },
  ],
}

t.test('Open Responses: the cases that need a store or a tool of the vendor', async (t) => {
  const doors = await opened(
    t,
    scripted(() => [{ say: 'Hello.' }]),
  )
  for (const [id, [body, status, told]] of Object.entries(others)) {
    const answer = await doors.call('POST', '/v1/responses', { model: 'chat', ...body })
    const facts = { ...((await answer.json()) as object), dropped: answer.headers.get('x-sealgate-dropped') }
    t.match([answer.status, facts], [status, told], id)
  }
})

t.test('Open Responses: the cases over a WebSocket', async (t) => {
  const doors = await opened(
    t,
    scripted(() => [{ say: 'Hello.' }]),
  )
  const { turn } = connected(t, doors)
  const ask = async (input: string, more: object = {}) => (await turn({ model: 'chat', input, ...more })).at(-1)
  const first = await ask('Greet me.')
  t.equal(first.response.status, 'completed', 'websocket-response')
  t.equal((await ask('Again.')).response.status, 'completed', 'websocket-sequential-responses')
  const warm = await ask('I am Ada.', { generate: false })
  t.same(warm.response.output, [], 'websocket-generate-false')
  const next = await ask('Who am I?', { previous_response_id: warm.response.id })
  t.match(JSON.stringify(doors.asked()), 'I am Ada.', 'websocket-continuation')
  const lost = { type: 'error', status: 400, error: { code: 'previous_response_not_found' } }
  t.match(await ask('Which?', { previous_response_id: 'resp_0' }), lost, 'websocket-previous-response-not-found')
  const previous_response_id = next.response.id
  t.match(await ask('Fail.', { previous_response_id, store: true }), { type: 'error', status: 400 })
  t.match(await ask('On.', { previous_response_id }), lost, 'websocket-failed-continuation-evicts-cache')
})
