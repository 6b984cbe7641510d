import t, { type Test } from 'tap'
import type { SettingsInput } from '../../core/settings.ts'
import { opened } from '../fakes/doors.ts'
import type { Asked, Take } from '../fakes/recorded.ts'
import { scripted } from '../fakes/scripted.ts'

const answer = scripted(() => [{ say: 'Here.' }])

const failing: Take = { status: 500, headers: { 'content-type': 'application/json' }, body: '{}' }

const models = {
  talk: {
    upstreams: [
      { provider: 'messages', model: 'claude-opus-4-8', priority: 1 },
      { provider: 'chat', priority: 2 },
    ],
  },
}

/** A gateway whose first backend, of the Messages dialect, may fail. */
const gateway = async (t: Test, first: () => Take | null, settings: SettingsInput = {}) => {
  const play = (request: Asked): Take => (request.path.includes('/messages') ? first() : null) ?? answer(request)
  const routing = { retries: 0, breaker: { faults: 1_000, ratio: 1 } }
  return opened(t, play, {}, { models, routing, ...settings })
}

const asking = (stream: boolean): Readonly<Record<string, readonly [path: string, body: object]>> => ({
  'chat completions': ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
  standard: ['/std/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
  responses: ['/v1/responses', { input: 'Hi' }],
  messages: ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }],
  gemini: [
    `/v1beta/models/talk:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
})

for (const straight of [true, false]) {
  const way = straight ? 'on the straight way' : 'on the long way'
  const routing = { straight, retries: 0, breaker: { faults: 1_000, ratio: 1 } }

  t.test(`a header names who was asked, where the first one did not answer, ${way}`, async (t) => {
    let fails = true
    const doors = await gateway(t, () => (fails ? failing : null), { routing })
    for (const stream of [false, true]) {
      for (const [door, [path, body]] of Object.entries(asking(stream))) {
        const told = async () => {
          const response = await doors.call('POST', path, { model: 'talk', stream, ...body })
          await response.text()
          const { headers } = response
          return [response.status, headers.get('x-sealgate-attempts'), headers.get('x-sealgate-answered-by')]
        }
        fails = true
        t.same(await told(), [200, 'messages, chat', 'chat/talk'], `${door}, ${stream ? 'streamed' : 'whole'}`)
        fails = false
        t.same(await told(), [200, null, 'messages/claude-opus-4-8'], `${door}: the first one answered`)
      }
    }
  })

  t.test(`a stream that begins with a sign of life has the attempts before it, ${way}`, async (t) => {
    const silent: Take = { body: '', pace: 'silent' }
    const doors = await gateway(t, () => silent, { routing, timeouts: { heartbeat: 20, firstToken: 200 } })
    const [path, body] = asking(true)['messages']!
    const response = await doors.call('POST', path, { model: 'talk', stream: true, ...body })
    t.equal(response.headers.get('x-sealgate-attempts'), null, 'the second was not asked yet')
    t.match(await response.text(), /: waiting\n[^]*: attempt 2 by chat\n/, 'which a comment tells')
  })
}

t.test('signed reasoning that failover leaves out is told', async (t) => {
  const doors = await gateway(t, () => failing)
  const messages = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
        { type: 'text', text: 'Yes?' },
      ],
    },
    { role: 'user', content: 'Go on.' },
  ]
  for (const stream of [false, true]) {
    const response = await doors.call('POST', '/v1/messages', { model: 'talk', stream, max_tokens: 9, messages })
    await response.text()
    t.equal(response.headers.get('x-sealgate-attempts'), 'messages, chat')
    t.equal(response.headers.get('x-sealgate-dropped'), 'messages.content.thinking')
    t.notMatch(doors.backend.asked.at(-1)!.body.toString(), 'c2lnbmVk', 'the other vendor is not given the signature')
    t.match(doors.backend.asked.at(-2)!.body.toString(), 'c2lnbmVk')
  }
})
