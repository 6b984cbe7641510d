import { chunksOf, eventsIn } from '../fakes/literal-stream.ts'
import type { Literal } from '../fakes/literal-client.ts'
import type { Row } from './row.ts'

const path = '/rvenc/chat/completions'
const chat = { model: 'vault', messages: [{ role: 'user', content: 'What do you see?' }] }

const sent = async (client: Literal, params: object) => {
  const agreement = await client.agree()
  const body = client.sealed(agreement, 'encryptedInference', params)
  return { agreement, body, answer: await client.send(path, { body }) }
}

const streamed = async (client: Literal, params: object = {}) => {
  const { agreement, body, answer } = await sent(client, { ...chat, ...params, stream: true })
  const events = eventsIn(answer.body)
  return { answer, events, chunks: chunksOf(agreement.secret, String(body.nonce), events) }
}

export const sealedChats: readonly Row[] = [
  [
    '4.6 without stream the answer is JSON with encryptedResponse and nonce',
    async (t, { client }) => {
      for (const params of [chat, { ...chat, stream: false }]) {
        const { agreement, answer } = await sent(client, params)
        t.equal(answer.status, 200)
        t.same(Object.keys(answer.body).sort(), ['encryptedResponse', 'nonce'])
        t.match(answer.body, { encryptedResponse: /^[0-9a-f]+$/, nonce: /^[0-9a-f]{48}$/ })
        const completion = client.opened(agreement, answer.body)
        t.match(completion, {
          object: 'chat.completion',
          model: 'vault',
          choices: [{ message: { role: 'assistant' } }],
        })
      }
    },
  ],
  [
    '4.6 with stream the answer has data events of hex and the end mark',
    async (t, { client }) => {
      const { answer, events } = await streamed(client)
      t.equal(answer.status, 200)
      t.match(answer.headers.get('content-type'), /^text\/event-stream/)
      const last = events.at(-1)
      t.match(last, { event: 'done', data: '[DONE]' })
      for (const { event, data } of events.slice(0, -1)) {
        t.ok(['data', 'heartbeat'].includes(event))
        if (event === 'data') t.match(data, /^[0-9a-f]+$/)
      }
    },
  ],
  [
    '4.6 a chunk has its id, its kind, its time, its model, its choices and its usage',
    async (t, { client }) => {
      const { chunks } = await streamed(client)
      for (const chunk of chunks) {
        t.match(chunk, { id: String, object: 'chat.completion.chunk', created: Number, model: 'vault' })
        t.ok(chunk.usage === null || typeof chunk.usage === 'object')
        for (const choice of chunk.choices)
          for (const name of ['index', 'delta', 'logprobs', 'finish_reason', 'matched_stop']) t.ok(name in choice, name)
      }
      const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: any) => delta))
      t.equal(deltas.map((delta) => delta.content ?? '').join(''), 'A heron')
      t.equal(deltas.map((delta) => delta.reasoning_content ?? '').join(''), 'It is grey.')
    },
  ],
  [
    '4.6 the last chunk has an empty delta and says stop',
    async (t, { client }) => {
      const { chunks } = await streamed(client)
      t.match(chunks.at(-1).choices[0], { finish_reason: 'stop' })
      t.notOk(Object.values(chunks.at(-1).choices[0].delta).some((value) => value !== null && value !== ''))
    },
  ],
  [
    '4.6 reasoning tokens are counted as usage',
    async (t, { client }) => {
      const { chunks } = await streamed(client, { stream_options: { include_usage: true } })
      const usage = chunks.map((chunk) => chunk.usage).findLast((usage) => usage !== null)
      t.match(usage, { completion_tokens: 8, completion_tokens_details: { reasoning_tokens: 3 } })
    },
  ],
  [
    '2.9 model, stream and reasoning_effort stand inside the seal',
    async (t, { client, asked: requests }) => {
      const from = requests.length
      await sent(client, { ...chat, reasoning_effort: 'low' })
      t.match(JSON.parse(requests[from]!.body.toString()), { reasoning_effort: 'low', messages: chat.messages })
    },
  ],
  [
    '4.6 encryptedInference, cipherText and nonce are required',
    async (t, { client }) => {
      const { body } = await sent(client, chat)
      for (const name of ['encryptedInference', 'cipherText', 'nonce']) {
        const { status, body: refused } = await client.send(path, { body: { ...body, [name]: undefined } })
        t.equal(status, 400)
        t.same(Object.keys(refused.validator), [name])
      }
    },
  ],
  [
    '4.6 what does not open is a 400',
    async (t, { client }) => {
      const agreement = await client.agree()
      const body = client.sealed(agreement, 'encryptedInference', chat)
      const { status } = await client.send(path, { body: { ...body, nonce: 'ab'.repeat(24) } })
      t.equal(status, 400)
    },
  ],
  [
    '5.3 the encrypted chat route wants a key, and its scope',
    async (t, { client, scoped }) => {
      const agreement = await client.agree()
      const body = client.sealed(agreement, 'encryptedInference', chat)
      t.equal((await client.send(path, { body, headers: { authorization: '' } })).status, 401)
      t.equal((await (await scoped('tools.execute')).send(path, { body })).status, 403)
    },
  ],
]

const audioPath = '/rvenc/audio/transcriptions'

const audioBody = async (client: Literal, bytes: Uint8Array, params: object = {}) => {
  const agreement = await client.agree()
  const body = {
    ...client.sealed(agreement, 'encryptedInference', { model: 'listener', ...params }),
    ...client.part(agreement, 'encryptedFileName', 'fileNameNonce', new TextEncoder().encode('heron.wav')),
    ...client.part(agreement, 'encryptedFile', 'fileNonce', bytes),
  }
  return { agreement, body }
}

export const sealedAudio: readonly Row[] = [
  [
    '4.7 an audio file comes back as metadata and results, inside the seal',
    async (t, { client }) => {
      const { agreement, body } = await audioBody(client, new Uint8Array(1000), { language: 'en' })
      const answer = await client.send(audioPath, { body: { ...body, model: 'listener' } })
      t.ok([200, 201, 202].includes(answer.status))
      t.same(Object.keys(answer.body.data).sort(), ['encryptedResponse', 'nonce'])
      const heard = client.opened(agreement, answer.body.data)
      t.match(heard, { metadata: { duration: 2, models: ['listener'] }, results: { channels: Array } })
      t.match(heard.results.channels[0].alternatives[0].transcript, /heron waits in en/)
    },
  ],
  [
    '7 a refused audio request lists all fields that are wrong',
    async (t, { client }) => {
      const { body } = await client.send(audioPath, { body: { nonce: 'zz' } })
      const names = [
        'cipherText',
        'encryptedFile',
        'encryptedFileName',
        'encryptedInference',
        'fileNameNonce',
        'fileNonce',
      ]
      t.same(Object.keys(body.validator).sort(), [...names, 'nonce'])
    },
  ],
  [
    '4.7 each sealed field of an audio request is required',
    async (t, { client }) => {
      const { body } = await audioBody(client, new Uint8Array(100))
      for (const name of Object.keys(body)) {
        const { status, body: refused } = await client.send(audioPath, { body: { ...body, [name]: undefined } })
        t.equal(status, 400)
        t.ok(refused.validator[name], name)
      }
    },
  ],
  [
    '7 an audio file over 25 MB is a 413 whose body holds status and error alone',
    async (t, { client }) => {
      const { body } = await audioBody(client, new Uint8Array(25 * 1024 * 1024 + 1))
      const answer = await client.send(audioPath, { body })
      t.equal(answer.status, 413)
      t.same(Object.keys(answer.body).sort(), ['error', 'status'])
    },
  ],
  [
    '5.3 the audio route wants a key, and its scope',
    async (t, { client, scoped }) => {
      const { body } = await audioBody(client, new Uint8Array(100))
      t.equal((await client.send(audioPath, { body, headers: { authorization: '' } })).status, 401)
      t.equal((await (await scoped('chats.completion')).send(audioPath, { body })).status, 403)
    },
  ],
]
