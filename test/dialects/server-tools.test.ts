import '../fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { opened, type Doors } from '../fakes/doors.ts'
import { scripted } from '../fakes/scripted.ts'

const hello = scripted(() => [{ say: 'Hello' }])
const text = [{ role: 'user', content: 'Hi' }]
const backends = {
  messages: { provider: 'messages', model: 'claude-opus-4-8' },
  responses: { provider: 'chat', model: 'gpt-5.6-luna' },
  gemini: { provider: 'gemini', model: 'gemini-2.5-pro' },
  chat: { provider: 'chat', model: 'gpt-own' },
}

type Choice = 'pass' | 'refuse' | 'drop' | undefined

/** A gateway whose models have all of these backends, with one choice for tools of vendors. */
const choosing = (t: Test, serverTools: Choice): Promise<Doors> => {
  const models = Object.fromEntries(
    Object.entries(backends).map(([name, upstream]) => [
      name,
      { upstreams: [upstream], ...(serverTools !== undefined && { serverTools }) },
    ]),
  )
  return opened(t, hello, {}, { models })
}

const search = { type: 'web_search_20250305', name: 'web_search' }
const look = { name: 'look', input_schema: { type: 'object' } }

/** A request with a tool of the vendor by each door of a vendor. */
const doors: Readonly<
  Record<'messages' | 'responses' | 'gemini', (model: string, more?: object) => readonly [path: string, body: object]>
> = {
  messages: (model, more = {}) => [
    '/v1/messages',
    { model, max_tokens: 9, messages: text, tools: [search, look], ...more },
  ],
  responses: (model, more = {}) => [
    '/v1/responses',
    { model, input: text, tools: [{ type: 'web_search' }, { type: 'function', name: 'look' }], ...more },
  ],
  gemini: (model) => [
    `/v1beta/models/${model}:generateContent`,
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'look' }] }],
    },
  ],
}

const names = Object.keys(doors) as (keyof typeof doors)[]

t.test('by default a tool of a vendor is left out and told, and refused where the request forces it', async (t) => {
  const gateway = await choosing(t, undefined)
  for (const door of names) {
    for (const model of [door, 'chat'] as const) {
      const answer = await gateway.call('POST', ...doors[door](model))
      t.equal(answer.status, 200, `${door} before ${model}`)
      t.match(answer.headers.get('x-sealgate-dropped'), /tools\.(web_search|googleSearch)/)
      t.notMatch(JSON.stringify(gateway.asked()), /web_search|googleSearch/, `${door} before ${model}: it stays here`)
      t.match(JSON.stringify(gateway.asked()), 'look')
    }
  }
  const asked = gateway.backend.asked.length
  for (const model of ['messages', 'chat']) {
    const forced = doors.messages(model, { tool_choice: { type: 'tool', name: 'web_search' } })
    const answer = await gateway.call('POST', ...forced)
    t.match(
      [answer.status, await answer.json()],
      [400, { error: { code: 'server_tool_refused', message: /tools\.0/ } }],
    )
    const alone = doors.messages(model, { tools: [search], tool_choice: { type: 'any' } })
    t.equal((await gateway.call('POST', ...alone)).status, 400, 'nothing else could be called')
  }
  for (const model of ['responses', 'chat']) {
    for (const more of [
      { tool_choice: { type: 'web_search' } },
      { tools: [{ type: 'web_search' }], tool_choice: 'required' },
    ]) {
      const answer = await gateway.call('POST', ...doors.responses(model, more))
      t.match([answer.status, await answer.json()], [400, { error: { code: 'server_tool_refused', param: 'tools.0' } }])
    }
  }
  t.equal(gateway.backend.asked.length, asked, 'no backend is asked')
})

t.test('refuse refuses them all, and drop none', async (t) => {
  const strict = await choosing(t, 'refuse')
  for (const door of names) {
    for (const model of [door, 'chat'])
      t.equal((await strict.call('POST', ...doors[door](model))).status, 400, `${door} before ${model}`)
  }
  t.equal(strict.backend.asked.length, 0)
  const loose = await choosing(t, 'drop')
  for (const [door, more] of [
    ['messages', { tool_choice: { type: 'tool', name: 'web_search' } }],
    ['responses', { tool_choice: { type: 'web_search' } }],
  ] as const) {
    for (const model of [door, 'chat']) {
      const answer = await loose.call('POST', ...doors[door](model, more))
      t.match([answer.status, answer.headers.get('x-sealgate-dropped')], [200, /tools\.web_search.*tool_choice/])
      t.notMatch(JSON.stringify(loose.asked()), 'web_search')
    }
  }
})

t.test('pass lets backends of the same dialect run them, and what needs them goes with them', async (t) => {
  const gateway = await choosing(t, 'pass')
  for (const door of names) {
    const answer = await gateway.call('POST', ...doors[door](door))
    t.match([answer.status, answer.headers.get('x-sealgate-dropped')], [200, null], door)
    t.match(JSON.stringify(gateway.asked()), /web_search|googleSearch/)
    const other = await gateway.call('POST', ...doors[door]('chat'))
    t.match(other.headers.get('x-sealgate-dropped'), /tools\./, 'another backend has no such tool')
  }
  const tools = [
    { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
    { type: 'code_execution_20250825', name: 'code_execution' },
    { ...look, defer_loading: true, allowed_callers: ['code_execution_20250825'] },
  ]
  await gateway.call('POST', ...doors.messages('messages', { tools }))
  t.same(gateway.asked().tools, tools)
  const own = await choosing(t, undefined)
  const answer = await own.call('POST', ...doors.messages('messages', { tools }))
  t.same(own.asked().tools, [look], 'a tool that nobody could find is offered at once')
  t.match(answer.headers.get('x-sealgate-dropped'), /tools\.defer_loading.*tools\.allowed_callers/)
  const searched = [{ ...look, defer_loading: true }]
  await own.call('POST', ...doors.messages('messages', { tools: searched }))
  t.same(own.asked().tools, searched, 'a caller that searches itself keeps its marks')
})

t.test('tools that the caller runs reach a backend of the dialect, whatever the operator chose', async (t) => {
  const gateway = await choosing(t, 'refuse')
  const tools = ['apply_patch', 'local_shell', 'computer_use_preview'].map((type) => ({ type }))
  const shells = [{ type: 'shell', environment: { type: 'local' } }, ...tools]
  const answer = await gateway.call('POST', ...doors.responses('responses', { tools: shells }))
  t.equal(answer.status, 200)
  t.same(gateway.asked().tools, shells)
  const away = await gateway.call('POST', ...doors.responses('chat', { tools: shells }))
  t.match([away.status, away.headers.get('x-sealgate-dropped')], [200, /tools\.shell, tools\.apply_patch/])
  const forced = { tools: shells, tool_choice: { type: 'apply_patch' } }
  t.equal(
    (await gateway.call('POST', ...doors.responses('chat', forced))).status,
    400,
    'but a forced one has no likeness',
  )
  const hosted = { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }
  t.equal(
    (await gateway.call('POST', ...doors.responses('responses', hosted))).status,
    400,
    'a container is the vendor’s',
  )
  const item = { type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }, { type: 'apply_patch' }] }
  const drop = await choosing(t, 'drop')
  await drop.call('POST', ...doors.responses('responses', { input: [item, ...text], tools: [] }))
  t.same(drop.asked().input[0].tools, [{ type: 'apply_patch' }], 'tools of items are looked at, too')
})
