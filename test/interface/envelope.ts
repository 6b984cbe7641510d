import type { Row } from './row.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const fields = ['status', 'data', 'error', 'message', 'env', 'log', 'validator', 'support_id']

export const envelope: readonly Row[] = [
  [
    '2.1 a success has the status of HTTP, data and no error',
    async (t, { client }) => {
      const { status, body } = await client.send('/files/encrypted')
      t.same(Object.keys(body).sort(), [...fields].sort())
      t.match(body, { status, error: null, validator: null, env: 'development', support_id: uuid })
      t.equal(status, 200)
      t.type(body.data, 'object')
    },
  ],
  [
    '2.1 an error has the status of HTTP, a sentence, no message and an id for support',
    async (t, { client, scoped }) => {
      const nobody = await scoped('models.read')
      const asked = [
        [400, client.send('/files/encrypted?limit=x')],
        [401, client.send('/files/encrypted', { headers: { authorization: 'Bearer sk_live_none' } })],
        [403, nobody.send('/files/encrypted')],
        [404, client.send('/files/encrypted/file_none')],
      ] as const
      for (const [expected, answer] of asked) {
        const { status, body } = await answer
        t.equal(status, expected)
        t.same(Object.keys(body).sort(), [...fields].sort())
        t.match(body, { status, message: null, env: 'development', support_id: uuid })
        t.match(body.error, /^[A-Z].+/)
      }
    },
  ],
  [
    '2.1 log has the id of the request, the one that the header tells',
    async (t, { client }) => {
      const { headers, body } = await client.send('/files/encrypted/file_none')
      t.match(body.log.request_id, uuid)
      t.equal(headers.get('x-request-id'), body.log.request_id)
    },
  ],
  [
    '2.1 validator has a message for each field that is wrong',
    async (t, { client }) => {
      const { body } = await client.send('/rvenc/chat/completions', { body: { cipherText: 'ab', nonce: 'cd' } })
      t.same(Object.keys(body.validator).sort(), ['cipherText', 'encryptedInference', 'nonce'])
      for (const message of Object.values(body.validator)) t.type(message, 'string')
    },
  ],
  [
    '4 bodies are JSON, in both ways',
    async (t, { client, gateway }) => {
      const { headers } = await client.send('/files/encrypted')
      t.match(headers.get('content-type'), /^application\/json/)
      const answer = await gateway.call('POST', '/std/chat/completions', 'model=seer', {
        'content-type': 'application/x-www-form-urlencoded',
      })
      t.equal(answer.status, 400)
      t.equal((await gateway.call('POST', '/std/chat/completions', '{"model"')).status, 400)
    },
  ],
]
