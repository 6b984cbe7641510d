import './fakes/unwatched.ts'
import t from 'tap'
import * as v from 'valibot'
import { memory } from '../adapters/memory/index.ts'
import { hasScope, scopes } from '../core/access/caller.ts'
import { type AnyRoute, isKeyless, namedPath } from '../core/http/route.ts'
import { SettingsShape } from '../core/settings.ts'
import { running, unhurried } from './environments.ts'
import { everyRoute } from './every-route.ts'

/** Doors that clients of others ask for, each with its scope. */
const doors: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...['POST /v1/decisions', 'POST /api/alpha/decisions', 'POST /v1/rerank', 'POST /v2/rerank'],
    ...['POST /v1/moderations', 'POST /v1/responses/input_tokens', 'GET /v1/responses'],
    ...['POST /v1/files', 'GET /v1/files', 'GET /v1/files/{id}', 'GET /v1/files/{id}/content', 'DELETE /v1/files/{id}'],
    ...['POST /v1/batches', 'GET /v1/batches', 'GET /v1/batches/{id}', 'POST /v1/batches/{id}/cancel'],
    ...['POST /v1/messages/batches', 'GET /v1/messages/batches', 'GET /v1/messages/batches/{id}'],
    ...['POST /v1/messages/batches/{id}/cancel', 'GET /v1/messages/batches/{id}/results'],
    ...['DELETE /v1/messages/batches/{id}', 'POST /v1beta/models/{model}:embedContent'],
    'POST /v1beta/models/{model}:batchEmbedContents',
  ].map((door) => [door, 'chats.completion']),
)

const labelOf = ({ method, path }: AnyRoute): string => `${method} ${path}`

t.test('each door stands once in the one table of routes, with its scope and the bound of its body', async (t) => {
  const settings = v.parse(SettingsShape, {})
  for (const [door, scope] of Object.entries(doors)) {
    const found = everyRoute.filter((route) => labelOf(route) === door)
    t.equal(found.length, 1, door)
    const { access, body, places } = found[0]!
    t.same(access, { scope }, door)
    if (body === undefined) continue
    if (body.read === 'stream') t.ok(places !== undefined, `${door}: a body that is read in pieces has places`)
    else t.ok((typeof body.bytes === 'number' ? body.bytes : body.bytes(settings)) > 0, door)
  }
})

t.test(
  'each route with a scope refuses a request without a key, with another key, and without the scope',
  async (t) => {
    const gateway = await running(t, memory(), {
      ...unhurried,
      limits: { ...unhurried.limits, keyless: { requestsPerSecond: null } },
    })
    const settings = v.parse(SettingsShape, {})
    const statusOf = async ({ method, path }: AnyRoute, authorization: string | null): Promise<number> => {
      const url = gateway.base + namedPath(path, settings).replace(/\{\w+\}/g, 'none')
      const headers = { ...(authorization !== null && { authorization }), 'content-type': 'application/json' }
      const answer = await fetch(url, {
        method,
        headers,
        ...(method === 'POST' || method === 'PATCH' ? { body: '{}' } : {}),
      })
      await answer.arrayBuffer()
      return answer.status
    }
    for (const route of everyRoute) {
      const { access } = route
      if (isKeyless(access)) continue
      const label = labelOf(route)
      t.equal(await statusOf(route, null), 401, `${label}: no key`)
      t.equal(await statusOf(route, 'Bearer sk_live_none'), 401, `${label}: another key`)
      if (typeof access !== 'object') continue
      const others = scopes.filter((scope) => !hasScope({ scopes: [scope] }, access.scope))
      if (others.length === 0) continue
      const { credential } = await gateway.gateway.keys.create({ scopes: others })
      t.equal(await statusOf(route, `Bearer ${credential}`), 403, `${label}: every scope but those that give it`)
    }
  },
)
