import type { Literal } from '../fakes/literal-client.ts'
import { chunksOf, eventsIn } from '../fakes/literal-stream.ts'
import { until } from '../until.ts'
import type { Row, Scene } from './row.ts'

const path = '/rvenc/chat/completions'
const chat = { model: 'slow-vault', messages: [{ role: 'user', content: 'Hi' }], stream: true }

/** A sealed stream whose backend says nothing yet: its text grows with what comes. */
const opened = async ({ gateway, client }: Scene) => {
  const agreement = await client.agree()
  const body = client.sealed(agreement, 'encryptedInference', chat)
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
  const answer = await fetch(gateway.base + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const got = { text: '', ended: false }
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const part of answer.body!) got.text += decoder.decode(part, { stream: true })
    got.ended = true
  })()
  return { answer, got, reading, secret: agreement.secret, nonce: String(body.nonce) }
}

const another = async (client: Literal) =>
  client.send(path, { body: client.sealed(await client.agree(), 'encryptedInference', chat) })

const beatsIn = (text: string) => eventsIn(text).filter(({ event }) => event === 'heartbeat')

export const limits: readonly Row[] = [
  [
    '8 a key has 4 concurrent requests on the decision route, then 429',
    async (t, { client, held }) => {
      const questions = { q: { type: 'noul', instructions: 'Does it wait?' } }
      const ask = () => client.send('/compat/v1/decision', { body: { model: 'slow', state: 'x', questions } })
      const four = [ask(), ask(), ask(), ask()]
      await until(() => held.waiting() === 4)
      const fifth = await ask()
      t.match(fifth, { status: 429, body: { status: 429, error: String } })
      t.ok(Number(fifth.headers.get('retry-after')) > 0)
      held.release()
      for (const { status } of await Promise.all(four)) t.equal(status, 200)
    },
  ],
  [
    '8 a caller has one active chat stream, then 429 whose body holds status and error alone',
    async (t, scene) => {
      const { got, reading, secret, nonce } = await opened(scene)
      await until(() => scene.held.waiting() === 1)
      const { status, body } = await another(scene.client)
      t.equal(status, 429)
      t.same(Object.keys(body).sort(), ['error', 'status'])
      scene.held.release()
      await reading
      t.equal(chunksOf(secret, nonce, eventsIn(got.text)).length > 0, true, 'the first one is whole')
    },
  ],
  [
    '4.6 until the first token there are heartbeats in the clear, with a message and the time in milliseconds',
    async (t, scene) => {
      const { got, reading } = await opened(scene)
      await until(() => beatsIn(got.text).length >= 2)
      for (const { data } of beatsIn(got.text)) {
        const { message, timestamp } = JSON.parse(data)
        t.type(message, 'string')
        t.ok(Number.isInteger(timestamp) && Math.abs(timestamp - Date.now()) < 600_000)
      }
      scene.held.release()
      await reading
      t.equal(eventsIn(got.text).at(-1)?.data, '[DONE]')
    },
  ],
]
