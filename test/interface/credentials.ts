import { literalClient } from '../fakes/literal-client.ts'
import type { Row } from './row.ts'

const routes = [
  ['POST', '/compat/v1/decision'],
  ['GET', '/compat/v1/models'],
  ['POST', '/std/chat/completions'],
  ['GET', '/std/models'],
  ['GET', '/rvenc/models'],
  ['POST', '/rvenc/chat/completions'],
  ['POST', '/rvenc/audio/transcriptions'],
  ['POST', '/tools/getTime'],
  ['POST', '/files/encrypted/upload'],
  ['GET', '/files/encrypted'],
  ['POST', '/files/encrypted/index'],
] as const

export const credentials: readonly Row[] = [
  [
    '5.1 a key begins with sk_live or sk_test and is sent as a bearer token',
    async (t, { gateway, client }) => {
      for (const mode of ['live', 'test'] as const) {
        const { credential } = await gateway.gateway.keys.create({ mode })
        t.ok(credential.startsWith(`sk_${mode}_`))
        t.equal((await literalClient(gateway.base, credential).send('/std/models')).status, 200)
      }
      const { credential } = await gateway.gateway.keys.create({})
      const send = (authorization: string) => client.send('/std/models', { headers: { authorization } })
      t.equal((await send(`bearer ${credential}`)).status, 200, 'the scheme is known in any case')
      for (const other of [
        credential,
        `Basic ${credential}`,
        `Bearer ${credential}x`,
        `Bearer ${credential.slice(0, -1)}`,
      ])
        t.equal((await send(other)).status, 401)
    },
  ],
  [
    '5.3 every route but the listing of tools is 401 without a key, before its body is looked at',
    async (t, { client }) => {
      for (const [method, path] of routes) {
        const body = method === 'POST' ? 'no JSON' : undefined
        const answer = await client.send(path, { method, body, headers: { authorization: '' } })
        t.equal(answer.status, 401, path)
        t.match(answer.body, { status: 401, error: 'Access token missing or invalid' })
      }
    },
  ],
  [
    '5.3 a key that was revoked is 401',
    async (t, { gateway, client }) => {
      const made = await client.send('/admin/keys', { body: {} })
      const other = literalClient(gateway.base, made.body.data.key)
      t.equal((await other.send('/std/models')).status, 200)
      await client.send(`/admin/keys/${made.body.data.id}`, { method: 'DELETE' })
      t.equal((await other.send('/std/models')).status, 401)
    },
  ],
]
