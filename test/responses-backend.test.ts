import './fakes/unwatched.ts'
import t, { type Test } from 'tap'
import { doors, type Door } from './fakes/callers.ts'
import { opened } from './fakes/doors.ts'
import { sealing } from './fakes/proxied.ts'
import type { Asked } from './fakes/recorded.ts'
import { ruled, rulesOf } from './fakes/rules/rules.ts'
import { scripted } from './fakes/scripted.ts'
import { sealedDoors } from './fakes/sealed-doors.ts'

type Json = Record<string, any>

/** The model thinks, says a word and calls a tool in each turn but the third. */
const talk = scripted((turn) =>
  turn < 2
    ? [{ think: `Thought ${turn}.` }, { say: 'Let me see.' }, { call: 'weather', args: { city: `Rome ${turn}` } }]
    : [{ think: 'Enough.' }, { say: 'It is mild.' }],
)

const models = { talk: { upstreams: [{ provider: 'chat', model: 'gpt-5.6-luna' }] } }

/** Sends a body to a door, in the clear or by a proxy that seals. */
type Post = (path: string, body: Json) => Promise<Response>

/** A conversation of three turns by one door. */
const converse = async (
  t: Test,
  label: string,
  door: Door,
  post: Post,
  requests: readonly Asked[],
  stream: boolean,
) => {
  let body = door.first(stream)
  const from = requests.length
  for (const turn of [0, 1, 2]) {
    const response = await post(door.path(stream), body)
    const text = await response.text()
    t.equal(response.status, 200, `${label}, turn ${turn}: ${response.status === 200 ? '' : text}`)
    if (response.status !== 200) return
    t.equal(response.headers.get('x-sealgate-dropped'), null, `${label}, turn ${turn}: nothing is dropped`)
    const answer = await door.read(text, stream)
    const ids = door.calls(answer)
    t.equal(ids.length, turn < 2 ? 1 : 0, `${label}, turn ${turn}: calls`)
    t.equal(door.text(answer), turn < 2 ? 'Let me see.' : 'It is mild.', `${label}, turn ${turn}: the text`)
    body = door.next(body, answer, ids)
  }
  const sent = requests.slice(from).map(({ path, body }) => ({ path, body: JSON.parse(body.toString()) as Json }))
  t.same(
    sent.map(({ path }) => path),
    Array.from({ length: 3 }, () => '/v1/responses'),
    `${label}: by Responses`,
  )
  const last = sent.at(-1)!.body
  t.match(last, { store: false, include: ['reasoning.encrypted_content'] }, `${label}: nothing is stored`)
  t.same(
    last['input']
      .map(({ type, role, encrypted_content }: Json) => encrypted_content ?? role ?? type)
      .filter((kind: string) => kind !== 'system' && kind !== 'user'),
    [
      ...['gAAAA-0_0', 'assistant', 'function_call', 'function_call_output'],
      ...['gAAAA-1_0', 'assistant', 'function_call', 'function_call_output'],
    ],
    `${label}: thoughts come back before what came of them`,
  )
  const phases = last['input'].filter(({ role }: Json) => role === 'assistant').map(({ phase }: Json) => phase)
  t.same(phases, ['commentary', 'commentary'], `${label}: phases come back`)
}

t.setTimeout(300_000)

for (const stream of [false, true]) {
  t.test(`function tools of a current model by every door, ${stream ? 'streamed' : 'whole'}`, async (t) => {
    const broken: string[] = []
    const gateway = await opened(t, ruled(rulesOf('openai'), talk, broken), {}, { models })
    const post: Post = (path, body) => gateway.call('POST', path, body)
    for (const [name, door] of Object.entries(doors)) await converse(t, name, door, post, gateway.backend.asked, stream)
    t.same(broken, [], 'no rule of the vendor is broken')
  })

  t.test(`function tools of a current model sealed, ${stream ? 'streamed' : 'whole'}`, async (t) => {
    const broken: string[] = []
    const sealed = { talk: { ...models.talk, standard: false, confidential: true } }
    const gateway = await sealedDoors(t, ruled(rulesOf('openai'), talk, broken), {}, { models: sealed })
    const { url } = await sealing(t, ['--base-url', gateway.base, '--allow-insecure-dev'], {
      SEALGATE_KEY: gateway.key,
    })
    const base = url.replace(/\/v1$/, '')
    const post: Post = (path, body) => fetch(base + path, { method: 'POST', body: JSON.stringify(body) })
    for (const [name, door] of Object.entries(doors)) {
      if (name !== 'standard') await converse(t, `${name}, sealed`, door, post, gateway.backend.asked, stream)
    }
    t.same(broken, [], 'no rule of the vendor is broken')
  })
}

/** The model thinks and calls a tool in each turn but the fifth. */
const longTalk = scripted((turn) =>
  turn < 4
    ? [
        { think: `Thought ${turn}.`, signature: `c2lnbmVk${turn}` },
        { call: 'weather', args: { city: `Rome ${turn}` } },
      ]
    : [{ say: 'It is mild.' }],
)

t.test('signed thoughts come back over four turns of tools, sealed and in the clear, by every door', async (t) => {
  const names = { talk: 'messages' } as const
  const clear = await opened(t, longTalk, names)
  const gateway = await sealedDoors(t, longTalk, names)
  const { url } = await sealing(t, ['--base-url', gateway.base, '--allow-insecure-dev'], { SEALGATE_KEY: gateway.key })
  const base = url.replace(/\/v1$/, '')
  const ways: readonly (readonly [way: string, post: Post, asked: readonly Asked[]])[] = [
    ['clear', (path, body) => clear.call('POST', path, body), clear.backend.asked],
    [
      'sealed',
      (path, body) => fetch(base + path, { method: 'POST', body: JSON.stringify(body) }),
      gateway.backend.asked,
    ],
  ]
  for (const [way, post, requests] of ways) {
    for (const name of ['messages', 'responses']) {
      const door = doors[name]!
      for (const stream of [false, true]) {
        const label = `${name}, ${way}, streamed: ${stream}`
        let body: Json = { ...door.first(stream), ...(name === 'messages' && { max_tokens: 9_000 }) }
        if (name === 'messages') body = { ...body, thinking: { type: 'enabled', budget_tokens: 2_000 } }
        else body = { ...body, reasoning: { effort: 'high' } }
        for (let turn = 0; turn < 5; turn++) {
          const response = await post(door.path(stream), body)
          const text = await response.text()
          if (response.status !== 200) return t.fail(`${label}, turn ${turn}: ${text}`)
          const answer = await door.read(text, stream)
          const ids = door.calls(answer)
          t.equal(ids.length, turn < 4 ? 1 : 0, `${label}, turn ${turn}: calls`)
          body = door.next(body, answer, ids)
        }
        const last = JSON.parse(requests.at(-1)!.body.toString()) as Json
        t.ok(last['thinking'], `${label}: the model goes on thinking`)
        const kept = last['messages']
          .flatMap(({ content }: Json) => (Array.isArray(content) ? content : []))
          .filter(({ type }: Json) => type === 'thinking')
          .map(({ thinking, signature }: Json) => `${thinking} ${signature}`)
        t.same(
          kept,
          [0, 1, 2, 3].map((turn) => `Thought ${turn}. c2lnbmVk${turn}`),
          `${label}: each thought with its signature`,
        )
      }
    }
  }
})
