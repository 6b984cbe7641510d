import './fakes/unwatched.ts'
import t from 'tap'
import { opened } from './fakes/doors.ts'
import { scripted } from './fakes/scripted.ts'
import { connected } from './fakes/web-sockets.ts'
import { until } from './until.ts'

const weather = {
  ...({ type: 'function', name: 'get_weather', description: 'Tells the weather.', strict: false } as const),
  parameters: { type: 'object', properties: { location: { type: 'string' } } },
}

/** The model calls a tool that it is offered, and then says what the tool gave. */
const acting = scripted((turn, [tool]) =>
  tool === undefined || turn > 0 ? [{ say: 'Hello.' }] : [{ call: tool, args: { location: 'Lima' } }],
)

const lastOf = (events: readonly any[]) => events.at(-1)

t.test('the SDK’s own class: many turns on one connection, each going on from the last response', async (t) => {
  const doors = await opened(t, acting)
  for (const model of ['chat', 'responses', 'messages', 'gemini']) {
    const { turn } = connected(t, doors)
    const first = await turn({ model, input: 'Is it raining?', tools: [weather] })
    t.same(
      first.map(({ sequence_number }) => sequence_number),
      first.map((_, at) => at),
      `${model}: every event, in its order`,
    )
    const { response } = lastOf(first)
    const call = response.output.find(({ type }: any) => type === 'function_call')
    const result = { type: 'function_call_output', call_id: call.call_id, output: '{"rain":false}' }
    const next = { model, tools: [weather], previous_response_id: response.id }
    const second = lastOf(await turn({ ...next, input: [result] }))
    t.match(JSON.stringify(second.response.output), 'Hello.', `${model}: the second turn knows the first one`)
    const asked = JSON.stringify(doors.asked())
    for (const part of ['Is it raining?', 'get_weather', 'false']) t.match(asked, part, `${model}: ${part}`)
    const third = lastOf(await turn({ model, input: 'Once more.', previous_response_id: second.response.id }))
    t.match(JSON.stringify(doors.asked()), 'Is it raining?', `${model}: the third knows both`)
    t.equal(third.type, 'response.completed')
    const lost = lastOf(await turn({ model, input: 'And?', previous_response_id: response.id }))
    t.match(lost, { type: 'error', status: 400, error: { code: 'previous_response_not_found' } }, 'the last one alone')
    const fresh = lastOf(await turn({ model, input: 'Anew.' }))
    t.equal(fresh.type, 'response.completed')
    t.notMatch(JSON.stringify(doors.asked()), 'Is it raining?', `${model}: a turn of its own begins anew`)
  }
  t.notMatch(JSON.stringify(doors.logged), 'raining')
})

t.test('a turn that warms up calls no model, and the next one goes on from it', async (t) => {
  const doors = await opened(t, acting)
  const { turn } = connected(t, doors)
  const warm = await turn({ model: 'chat', input: 'I am Ada.', instructions: 'Be brief.', generate: false })
  t.same(
    warm.map(({ type }) => type),
    ['response.created', 'response.completed'],
  )
  const { response } = lastOf(warm)
  t.match(response, { status: 'completed', output: [], instructions: 'Be brief.', usage: { total_tokens: 0 } })
  t.notOk(doors.backend.asked.some(({ path }) => path.endsWith('/chat/completions')))
  await turn({ model: 'chat', input: 'Who am I?', previous_response_id: response.id })
  t.match(JSON.stringify(doors.asked()), /I am Ada\..*Who am I\?/)
  const refused = lastOf(await turn({ model: 'nobody', input: 'Hi', generate: false }))
  t.match(refused, { type: 'error', status: 404, error: { code: 'model_not_found' } }, 'it is checked as a turn is')
})

t.test('a turn that fails forgets the response on which it rests', async (t) => {
  let fails = false
  const doors = await opened(t, (request) =>
    fails ? { status: 400, body: '{"error":{"message":"no"}}' } : acting(request),
  )
  const { turn } = connected(t, doors)
  const { response } = lastOf(await turn({ model: 'chat', input: 'One.' }))
  const next = { model: 'chat', input: 'Two.', previous_response_id: response.id }
  fails = true
  t.match(lastOf(await turn(next)), { type: 'error', status: 400 })
  fails = false
  t.match(lastOf(await turn(next)), { error: { code: 'previous_response_not_found', param: 'previous_response_id' } })
  const again = lastOf(await turn({ model: 'chat', input: 'One.' })).response
  t.equal(lastOf(await turn({ ...next, previous_response_id: again.id })).type, 'response.completed')
  const elsewhere = connected(t, doors)
  const other = lastOf(await elsewhere.turn({ ...next, previous_response_id: again.id }))
  t.match(other, { error: { code: 'previous_response_not_found' } }, 'nothing goes beyond the connection')
})

t.test('each turn takes the road of POST: limits, scopes, faults and the log', async (t) => {
  const doors = await opened(t, acting)
  const { credential: key, row } = await doors.gateway.keys.create({ limits: { requestsPerSecond: 2 } })
  const { turn, closed } = connected(t, { ...doors, key })
  t.equal(lastOf(await turn({ model: 'chat', input: 'One.' })).type, 'response.completed')
  const refused = lastOf(await turn({ model: 'chat', input: 'Two.' }))
  t.match(refused, { status: 429, error: { code: 'rate_limit_exceeded' }, headers: { 'retry-after': /^\d+$/ } })
  t.equal(closed(), null, 'a limit ends no connection')
  const free = connected(t, doors)
  t.match(lastOf(await free.turn({ model: 'nobody', input: 'Hi' })), { status: 404 })
  t.match(lastOf(await free.turn({ model: 'chat', input: 1 })), { status: 400, error: { param: 'input' } })
  t.match(lastOf(await free.turn({ model: 'chat', input: 'Hi', store: true })), { status: 400 })
  free.socket.sendRaw('{"type":')
  free.socket.send({ type: 'response.processed', response_id: 'resp_1' } as never)
  free.socket.send({ type: 'response.cancel' } as never)
  await until(() => free.told.filter(({ type }) => type === 'error').length === 5)
  t.equal(lastOf(await free.turn({ model: 'chat', input: 'Hi' })).type, 'response.completed', 'it goes on')
  t.same(
    free.told
      .filter(({ type }) => type === 'error')
      .map(({ status, error }) => `${status} ${error.message}`)
      .slice(-2),
    ['400 Malformed JSON', '400 Expected a message of the type response.create'],
  )
  const requests = doors.logged.filter(({ event }) => event === 'request').map(({ facts }) => facts)
  const [played] = requests.filter(({ key }) => key === row.id)
  t.match(played, { route: 'POST /v1/responses', status: 200, model: 'chat', tokens: 30 }, 'a turn is a request')
})
