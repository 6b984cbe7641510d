import '../fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { connect } from '../../plugins/sealed/client/client.ts'
import type { SettingsInput } from '../../core/settings.ts'
import { opened, type Backend } from '../fakes/doors.ts'
import { dialectAt as at, overflows } from '../fakes/overflows.ts'
import type { Asked, Take } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'
import { sealedDoors } from '../fakes/sealed-doors.ts'

const json = { 'content-type': 'application/json' }

const large = { context_tokens: 100_000 }
const [first, second, third] = [1, 2, 3].map((priority) => ({ priority })) as [object, object, object]

/** Models whose backends hold more or less, in the order in which they are asked. */
const models = {
  growing: {
    context_tokens: 100,
    upstreams: [
      { provider: 'chat', ...first },
      { provider: 'messages', ...second, ...large },
    ],
  },
  thrice: {
    upstreams: [
      { provider: 'chat', ...first, context_tokens: 100 },
      { provider: 'messages', ...second, context_tokens: 1_000 },
      { provider: 'gemini', ...third, ...large },
    ],
  },
  twins: {
    context_tokens: 100,
    upstreams: [
      { provider: 'chat', ...first },
      { provider: 'gemini', ...second },
      { provider: 'messages', ...third, ...large },
    ],
  },
  shrinking: {
    context_tokens: 100,
    upstreams: [
      { provider: 'messages', ...first, ...large },
      { provider: 'chat', ...second },
    ],
  },
  unsaid: {
    upstreams: [
      { provider: 'chat', ...first },
      { provider: 'messages', ...second, ...large },
    ],
  },
  vague: {
    upstreams: [
      { provider: 'chat', ...first, context_tokens: 100 },
      { provider: 'messages', ...second },
    ],
  },
} as unknown as NonNullable<SettingsInput['models']>

const long = 'long '.repeat(200)

/** What the backends do beside answering: a status other than 200, or a prompt that is too long for them. */
type Faults = Partial<Record<Backend, 'overflow' | 500 | 429>>

const played = () => {
  let faults: Faults = {}
  const order: Backend[] = []
  const answer = scripted(() => [{ say: 'Here.' }])
  const play = (request: Asked): Take => {
    const backend = at(request.path)
    order.push(backend)
    const fault = faults[backend]
    if (fault === undefined) return answer(request)
    if (fault === 'overflow') return { status: 400, headers: json, body: JSON.stringify(overflows[backend]) }
    return { status: fault, headers: json, body: '{}' }
  }
  /** Who was asked meanwhile, in order. */
  const during = async <T>(now: Faults, call: () => Promise<T>): Promise<[T, readonly Backend[]]> => {
    faults = now
    order.length = 0
    return [await call(), [...order]]
  }
  return { play, during }
}

const gateway = async (t: Test, routing: SettingsInput['routing'] = { retries: 0 }) => {
  const { play, during } = played()
  const gateway = await opened(t, play, {}, { models, routing })
  const doors = (model: string, content: string, stream: boolean): Readonly<Record<string, [string, object]>> => ({
    chat: ['/v1/chat/completions', { model, stream, messages: [{ role: 'user', content }] }],
    responses: ['/v1/responses', { model, stream, input: content }],
    messages: ['/v1/messages', { model, stream, max_tokens: 9, messages: [{ role: 'user', content }] }],
    gemini: [
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: content }] }] },
    ],
  })
  const ask = (model: string, content: string, faults: Faults, door = 'chat', stream = false) =>
    during(faults, async () => {
      const response = await gateway.call('POST', ...doors(model, content, stream)[door]!)
      return { status: response.status, text: await response.text() }
    })
  return { ask }
}

const doors = ['chat', 'responses', 'messages', 'gemini']

t.test('backends that cannot hold a prompt are passed over', async (t) => {
  const { ask } = await gateway(t)
  for (const door of doors) {
    t.match(await ask('growing', 'Hi', {}, door), [{ status: 200 }, ['chat']], `${door}: a short prompt`)
    t.match(await ask('growing', long, {}, door), [{ status: 200 }, ['messages']], `${door}: a long one`)
  }
  const [, asked] = await ask('growing', long, { messages: 500 })
  t.same(asked, ['messages'], 'not even when the larger one fails')
  t.match(await ask('thrice', long.repeat(500), {}), [{ status: 200 }, ['gemini']], 'a guess refuses nobody')
  t.match(await ask('vague', long, {}), [{ status: 200 }, ['messages']], 'whose size nobody told is not passed over')
})

t.test('an overflow that a backend tells turns once to a larger one', async (t) => {
  const { ask } = await gateway(t)
  for (const door of doors) {
    for (const stream of [false, true]) {
      const [{ status, text }, asked] = await ask('growing', 'Hi', { chat: 'overflow' }, door, stream)
      t.match([status, asked], [200, ['chat', 'messages']], `${door}, ${stream ? 'streamed' : 'whole'}`)
      t.match(text, /Her/)
    }
  }
  const twins = await ask('twins', 'Hi', { chat: 'overflow' })
  t.match(twins, [{ status: 200 }, ['chat', 'messages']], 'none that is no larger is asked')
  const both: Faults = { chat: 'overflow', messages: 'overflow' }
  t.match(await ask('thrice', 'Hi', both), [{ status: 400 }, ['chat', 'messages']], 'once, not twice')
  const [{ status }, asked] = await ask('thrice', 'Hi', { chat: 'overflow', messages: 500 })
  t.match([status, asked], [200, ['chat', 'messages', 'gemini']], 'behind the turn failover goes on')
})

t.test('where nothing is larger, the error is the one that it was, in each dialect', async (t) => {
  const { ask } = await gateway(t)
  const code = 'context_length_exceeded'
  const shapes: Readonly<Record<string, object>> = {
    chat: { error: { code } },
    responses: { error: { code } },
    messages: { type: 'error', error: { type: 'invalid_request_error', code } },
    gemini: { error: { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: code }] } },
  }
  for (const door of doors) {
    for (const stream of [false, true]) {
      const [{ status, text }, asked] = await ask(
        'growing',
        'Hi',
        { chat: 'overflow', messages: 'overflow' },
        door,
        stream,
      )
      t.match([status, asked], [400, ['chat', 'messages']], door)
      t.match(JSON.parse(text), shapes[door]!, door)
    }
  }
  for (const model of ['unsaid', 'vague'])
    t.match(
      await ask(model, 'Hi', { chat: 'overflow' }),
      [{ status: 400 }, ['chat']],
      `${model}: no known size is larger`,
    )
  const full = await ask('shrinking', 'Hi', { messages: 429, chat: 'overflow' })
  t.match(full, [{ status: 429 }, ['messages', 'chat']], 'a larger one that is full says when to come back')
  const down = await ask('shrinking', 'Hi', { messages: 500, chat: 'overflow' })
  t.match(down, [{ status: 503 }, ['messages', 'chat']], 'a larger one that failed may answer later')
})

t.test('an overflow is told where the larger backend takes no calls', async (t) => {
  const { ask } = await gateway(t, { retries: 0, breaker: { faults: 1, rest: 60_000 } })
  t.match(await ask('growing', long, { messages: 500 }), [{ status: 503 }, ['messages']])
  t.match(await ask('growing', 'Hi', { chat: 'overflow' }), [{ status: 400 }, ['chat']])
})

t.test('the same holds inside the enclave', async (t) => {
  const { play, during } = played()
  const sealed = Object.fromEntries(
    Object.entries(models).map(([name, model]) => [name, { ...model, standard: false, confidential: true }]),
  )
  const doors = await sealedDoors(t, play, {}, { models: sealed as never })
  const { chat } = connect({ baseUrl: doors.base, apiKey: doors.key, policy: { allowInsecureDev: true } })
  const ask = (content: string, faults: Faults) =>
    during(faults, async () => {
      const { choices } = await chat.completions.create({ model: 'growing', messages: [{ role: 'user', content }] })
      return choices[0]?.message.content
    })
  t.same(await ask(long, {}), ['Here.', ['messages']])
  t.same(await ask('Hi', { chat: 'overflow' }), ['Here.', ['chat', 'messages']])
  await t.rejects(ask('Hi', { chat: 'overflow', messages: 'overflow' }), { code: 'context_length_exceeded' })
})
