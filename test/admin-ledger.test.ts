import t from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { type Scope, scopes } from '../core/access/caller.ts'
import { running, unhurried } from './environments.ts'

const hour = 3_600_000
const soon = Date.now() + hour

/** The scopes that concern keys: callers have one of them, two, or every scope. */
const concerned = ['api_key.create', 'api_key.read', 'api_key.update', 'api_key.delete', 'api_key.delegate'] as const
const callers: readonly (readonly Scope[])[] = [
  ...concerned.map((one) => [one]),
  ...concerned.flatMap((one, at) => concerned.slice(at + 1).map((other) => [one, other])),
  scopes,
]

/** How every target is made. */
const base = {
  models: ['small', 'large'],
  addresses: ['10.0.0.0/16', '::1'],
  limits: { requestsPerSecond: 10, tokensPerDay: 1000 },
  expires_at: soon,
} as const

/** What makes more of the base, less of it, or the same. */
const changes = {
  widen: [
    { models: null },
    { models: ['small', 'large', 'huge'] },
    { models: ['huge'] },
    { addresses: null },
    { addresses: ['10.0.0.0/15'] },
    { addresses: ['10.0.0.0/16', '10.1.0.1'] },
    { addresses: ['::/0'] },
    { limits: { requestsPerSecond: 11, tokensPerDay: 1000 } },
    { limits: { requestsPerSecond: 9, tokensPerDay: 1001 } },
    { limits: { requestsPerSecond: null, tokensPerDay: 1000 } },
    { limits: { requestsPerSecond: 9 } },
    { expires_at: null },
    { expires_at: soon + 1 },
    { models: ['small'], addresses: ['10.0.0.0/15'] },
  ],
  narrow: [
    { models: ['small'] },
    { models: [] },
    { addresses: ['10.0.3.0/24'] },
    { addresses: ['::1'] },
    { limits: { requestsPerSecond: 9, tokensPerDay: 1000 } },
    { limits: { requestsPerSecond: 10, tokensPerDay: 1000, audioMinutesPerDay: 5 } },
    { expires_at: soon - 1 },
    { models: ['large'], expires_at: soon - 2, name: 'less' },
  ],
  same: [{ name: 'other' }, {}, { ...base }, { models: ['large', 'small'] }],
} as const

/** Which scope an act takes, whatever it is done to. */
const takes = {
  widen: 'api_key.update',
  narrow: 'api_key.update',
  same: 'api_key.update',
  revoke: 'api_key.delete',
} as const satisfies Record<string, Scope>

/** What a caller that has the scope is answered, by what the target is to it. */
const answers = {
  /** Without any scope. */
  lesser: { widen: 200, narrow: 200, same: 200, revoke: 200 },
  /** With the caller's scopes. */
  equal: { widen: 200, narrow: 200, same: 200, revoke: 200 },
  /** With a scope that the caller lacks; another key reaches as far. */
  greater: { widen: 403, narrow: 200, same: 200, revoke: 200 },
  /** With every scope; no other key of the organisation reaches as far. */
  last: { widen: 403, narrow: 403, same: 200, revoke: 200 },
  expired: { widen: 400, narrow: 400, same: 400, revoke: 200 },
  revoked: { widen: 400, narrow: 400, same: 400, revoke: 200 },
  /** Of another organisation. */
  foreign: { widen: 404, narrow: 404, same: 404, revoke: 404 },
} as const

/** What a caller is answered that makes a key; without `api_key.create` it is 403. */
const makings = [
  { body: {}, own: 201, delegating: 201 },
  { body: { user: 'ann' }, own: 201, delegating: 201 },
  { body: { user: 'bob' }, own: 403, delegating: 201 },
  { body: { user: 'bob', scopes: [] }, own: 403, delegating: 201 },
  { body: { scopes: ['chats.completion'] }, own: 403, delegating: 403 },
] as const

const house = async (t: Parameters<typeof running>[0]) => {
  const gateway = await running(t, memory(), unhurried)
  const make = (key: Parameters<typeof gateway.gateway.keys.create>[0]) => gateway.gateway.keys.create(key)
  return {
    make,
    as: (credential: string) => async (method: string, path: string, body?: object) => {
      const answer = await gateway.call(method, path, body, { authorization: `Bearer ${credential}` })
      return { status: answer.status, ...((await answer.json()) as { data: any; error: string | null }) }
    },
    read: (id: string) => gateway.gateway.keys.get(id, null),
    revoke: (id: string) => gateway.gateway.keys.revoke(id, null),
    /** A target, by what it is to the caller. */
    async target(what: keyof typeof answers, organization: string, callers: readonly Scope[]) {
      const { row } = await make({
        ...base,
        organization: what === 'foreign' ? 'foreign' : what === 'last' ? `${organization}-last` : organization,
        scopes:
          { greater: [...callers, 'chats.completion' as const], last: scopes, equal: callers }[what as 'last'] ?? [],
        ...(what === 'expired' && { expires_at: Date.now() - 1 }),
      })
      if (what === 'revoked') await gateway.gateway.keys.revoke(row.id, null)
      return row.id
    },
  }
}

t.test('every caller, act and target', async (t) => {
  const { make, as, read, revoke, target } = await house(t)
  let looked = 0
  for (const [at, held] of callers.entries()) {
    const organization = `org-${at}`
    await make({ organization })
    const wrong: object[] = []
    for (const [what, expected] of Object.entries(answers) as [keyof typeof answers, Record<string, number>][]) {
      // Nothing is greater than every scope.
      if (held === scopes && (what === 'greater' || what === 'last')) continue
      const home = what === 'last' ? `${organization}-last` : organization
      const ask = as((await make({ organization: home, user: 'ann', scopes: held })).credential)
      let id = await target(what, organization, held)
      for (const act of ['widen', 'narrow', 'same', 'revoke'] as const) {
        const may = held.includes(takes[act])
        const bodies = act === 'revoke' ? [undefined] : changes[act]
        // A caller without the scope is refused before the body is read; that of a pair is judged as that of the one.
        for (const body of may && held.length !== 2 ? bodies : bodies.slice(0, 1)) {
          const before = await read(id)
          const { status } = await ask(body === undefined ? 'DELETE' : 'PATCH', `/admin/keys/${id}`, body)
          const due = may ? expected[act] : 403
          const kept = JSON.stringify(before) === JSON.stringify(await read(id))
          if (status !== due || (status !== 200 && !kept)) wrong.push({ what, act, body, status, due, kept })
          if (!kept) {
            await revoke(id)
            id = await target(what, organization, held)
          }
          looked++
        }
      }
    }
    const ask = as((await make({ organization, user: 'ann', scopes: held })).credential)
    for (const { body, own, delegating } of makings) {
      const { status } = await ask('POST', '/admin/keys', body)
      const may = held === scopes && 'scopes' in body ? 201 : held.includes('api_key.delegate') ? delegating : own
      const due = held.includes('api_key.create') ? may : 403
      if (status !== due) wrong.push({ body, status, due })
      looked++
    }
    t.same(wrong, [], held.join(' + '))
  }
  t.ok(looked > 700, `${looked} looked at`)
})

t.test('an administrator is narrowed while another one reaches as far, and revoked at any time', async (t) => {
  const { make, as, read } = await house(t)
  const bodies = [{ addresses: ['192.0.2.1'] }, { models: [] }, { limits: { tokensPerDay: 1 } }, { expires_at: soon }]
  for (const [at, less] of bodies.entries()) {
    const whole = { organization: `pair-${at}` }
    const [one, other] = [await make(whole), await make(whole)]
    const lesser = as((await make({ ...whole, scopes: ['api_key.update', 'api_key.delete'] })).credential)
    t.equal((await lesser('PATCH', `/admin/keys/${one.row.id}`, less)).status, 200, JSON.stringify(less))
    const { status, error } = await lesser('PATCH', `/admin/keys/${other.row.id}`, less)
    t.same([status, error], [403, 'The organisation has no other key that administers as much'])
    for (const { row } of [one, other])
      t.equal((await lesser('DELETE', `/admin/keys/${row.id}`)).status, 200, 'a leaked key is revoked at any time')
  }
  const tested = { organization: 'tested' }
  const [live] = [await make(tested), await make({ ...tested, mode: 'test' })]
  const weak = as((await make({ ...tested, scopes: ['api_key.update'] })).credential)
  t.equal(
    (await weak('PATCH', `/admin/keys/${live.row.id}`, { models: [] })).status,
    403,
    'a test key stands in for no live one',
  )
  const whole = { organization: 'equals' }
  const [first, daily] = [await make(whole), await make({ ...whole, addresses: ['127.0.0.1'] })]
  t.equal((await as(daily.credential)('DELETE', `/admin/keys/${first.row.id}`)).status, 200, 'an equal revokes')
  t.equal((await read(daily.row.id))?.revoked_at, null)
})
