import type { Row } from './row.ts'

const path = '/std/chat/completions'
const messages = [{ role: 'user', content: 'What do you see?' }]
const chat = (more: object = {}) => ({ body: { model: 'seer', messages, ...more } })

export const chats: readonly Row[] = [
  [
    '4.3 a chat is answered with a completion of the common format',
    async (t, { client }) => {
      for (const more of [{}, { stream: false }]) {
        const { status, headers, body } = await client.send(path, chat(more))
        t.equal(status, 200)
        t.match(headers.get('content-type'), /^application\/json/)
        t.match(body, { id: String, object: 'chat.completion', created: Number, model: 'seer' })
        t.match(body.choices[0], { index: 0, message: { role: 'assistant', content: String }, finish_reason: 'stop' })
        t.match(body.usage, { prompt_tokens: 10, completion_tokens: 8, total_tokens: 18 })
      }
    },
  ],
  [
    '4.3 with stream a chat is answered with events of the common chunk format',
    async (t, { client }) => {
      const { status, headers, body } = await client.send(path, chat({ stream: true }))
      t.equal(status, 200)
      t.match(headers.get('content-type'), /^text\/event-stream/)
      const lines = body.split('\n\n').filter((text: string) => text !== '')
      t.equal(lines.at(-1), 'data: [DONE]')
      const chunks = lines.slice(0, -1).map((text: string) => JSON.parse(text.replace(/^data: /, '')))
      for (const chunk of chunks) t.match(chunk, { id: String, object: 'chat.completion.chunk', model: 'seer' })
      t.equal(chunks.map((chunk: any) => chunk.choices[0]?.delta.content ?? '').join(''), 'A heron')
      t.ok(chunks.some((chunk: any) => chunk.choices[0]?.finish_reason === 'stop'))
    },
  ],
  [
    '4.3 model and messages are required',
    async (t, { client }) => {
      t.ok((await client.send(path, { body: { messages } })).body.validator.model)
      t.ok((await client.send(path, { body: { model: 'seer' } })).body.validator.messages)
      t.equal((await client.send(path, { body: { model: 'seer', messages: 'Hi' } })).status, 400)
    },
  ],
  [
    '8 provider has at most 64 characters of a to z, digits and dashes',
    async (t, { client }) => {
      t.equal((await client.send(path, chat({ provider: 'openai' }))).status, 200)
      for (const provider of ['OpenAI', '-openai', 'a b', 'a'.repeat(65)]) {
        const { status, body } = await client.send(path, chat({ provider }))
        t.equal(status, 400, provider)
        t.ok(body.validator.provider)
      }
    },
  ],
  [
    '4.3 provider pins a backend of the model',
    async (t, { client }) => {
      const { status, body } = await client.send(path, chat({ provider: 'a'.repeat(64) }))
      t.equal(status, 400, 'a name that is allowed and no backend')
      t.match(body.validator.provider, /openai/)
    },
  ],
  [
    '4.3 a model for encrypted inference alone is a 400 that says so',
    async (t, { client }) => {
      const { status, body } = await client.send(path, chat({ model: 'vault' }))
      t.equal(status, 400)
      t.match(body.error, /available for encrypted inference only/)
    },
  ],
  [
    '5.3 the chat route wants a key, and its scope',
    async (t, { client, scoped }) => {
      t.equal((await client.send(path, { ...chat(), headers: { authorization: 'Bearer nothing' } })).status, 401)
      t.equal((await (await scoped('tools.execute')).send(path, chat())).status, 403)
    },
  ],
]
