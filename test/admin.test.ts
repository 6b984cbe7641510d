import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { scopes } from '../core/access/caller.ts'
import t from 'tap'
import { system } from '../adapters/memory/platform.ts'
import { memory } from '../adapters/memory/index.ts'
import { makeFirstKey } from '../adapters/production/commands/serve.ts'
import { acts, operator } from '../core/access/audit.ts'
import { createGateway } from '../core/gateway.ts'
import { uuid7 } from '../core/uuid7.ts'
import { MetadataStore } from '../core/ports/metadata-store.ts'
import type { SettingsInput } from '../core/settings.ts'
import { environments, type Running, running, unhurried } from './environments.ts'
import { uploadOf } from './fakes/uploads.ts'
import { given } from './fitted.ts'

const canary = 'Zx9canary'

/** A caller with a key of its own, made past the routes. */
const caller = async (gateway: Running, key: Parameters<Running['gateway']['keys']['create']>[0] = {}) => {
  const { credential, row } = await gateway.gateway.keys.create(key)
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await gateway.call(method, path, body, { authorization: `Bearer ${credential}` })
    return { status: answer.status, request: answer.headers.get('x-request-id'), ...((await answer.json()) as any) }
  }
  return { ask, row, id: row.id, credential }
}

for (const [name, adapters] of Object.entries(environments)) {
  t.test(name, async (t) => {
    const gateway = await running(t, await adapters(t), { operators: ['default', `audited-${name}`] })
    const acme = await caller(gateway, { organization: 'acme', user: 'ann' })
    const other = await caller(gateway, { organization: 'other' })

    t.test('a key is read and changed', async (t) => {
      const { data } = await acme.ask('POST', '/admin/keys', { scopes, name: 'ci', limits: { requestsPerSecond: 7 } })
      const { key, ...described } = data
      t.same(
        (await acme.ask('GET', `/admin/keys/${data.id}`)).data,
        { ...described, last_used: null },
        'as it was made, without the credential',
      )
      const use = () => gateway.call('GET', '/admin/keys', undefined, { authorization: `Bearer ${key}` })
      t.equal((await use()).headers.get('x-ratelimit-limit-requests'), '7')
      const changed = await acme.ask('PATCH', `/admin/keys/${data.id}`, {
        name: 'nightly',
        limits: { requestsPerSecond: 3 },
        models: ['small'],
        addresses: ['127.0.0.0/8'],
        expires_at: Date.now() + 60_000,
      })
      t.equal(changed.status, 200)
      t.match(changed.data, {
        name: 'nightly',
        models: ['small'],
        addresses: ['127.0.0.0/8'],
        scopes: described.scopes,
      })
      t.same(changed.data.limits, { requestsPerSecond: 3 })
      t.equal((await use()).headers.get('x-ratelimit-limit-requests'), '3', 'at once in this process')
      await acme.ask('PATCH', `/admin/keys/${data.id}`, { addresses: ['10.0.0.0/8'] })
      t.equal((await use()).status, 401, 'from another address')
      const free = await acme.ask('PATCH', `/admin/keys/${data.id}`, {
        addresses: null,
        models: null,
        expires_at: null,
      })
      t.match(free.data, { name: 'nightly', addresses: null, models: null, expires_at: null })
      t.equal((await use()).status, 200)
      const many = Array.from({ length: 257 }, () => '::1')
      const bodies = [
        { scopes: ['models.write'] },
        { limits: { requestsPerSecond: 0 } },
        { expires_at: 5 },
        { addresses: ['x'] },
      ]
      for (const bad of [...bodies, { addresses: many }])
        t.equal((await acme.ask('PATCH', `/admin/keys/${data.id}`, bad)).status, 400, JSON.stringify(bad))
      await acme.ask('DELETE', `/admin/keys/${data.id}`)
      t.equal((await acme.ask('PATCH', `/admin/keys/${data.id}`, { name: 'x' })).status, 400, 'revoked for good')
      t.ok((await acme.ask('GET', `/admin/keys/${data.id}`)).data.revoked_at > 0)
      for (const method of ['GET', 'PATCH', 'DELETE'])
        t.equal((await other.ask(method, `/admin/keys/${data.id}`, method === 'PATCH' ? {} : undefined)).status, 404)
    })

    t.test('nobody gives more than they have', async (t) => {
      const expires_at = Date.now() + 3_600_000
      const own = {
        scopes: ['api_key.create', 'api_key.update', 'models.read'],
        models: ['small', 'large'],
        addresses: ['127.0.0.0/8', '::1'],
        limits: { requestsPerSecond: 40, tokensPerDay: 1000 },
        expires_at,
      } as const
      const small = await caller(gateway, { organization: 'acme', ...own })
      const { data: heir, status } = await small.ask('POST', '/admin/keys', {})
      t.equal(status, 201)
      t.match(heir, { ...own, scopes: ['models.read'] }, 'what is not said is as its maker has it, but plain')
      const target = `/admin/keys/${acme.id}`
      const more: readonly object[] = [
        { scopes: ['api_key.delete'] },
        { models: null },
        { models: ['huge'] },
        { addresses: null },
        { addresses: ['127.0.0.1', '0.0.0.0/0'] },
        { addresses: ['::/0'] },
        { limits: { requestsPerSecond: 41 } },
        { limits: { tokensPerDay: null } },
        { limits: { tokensPerMinute: 1_000_001 } },
        { expires_at: null },
        { expires_at: expires_at + 1 },
      ]
      for (const value of more) {
        t.equal((await small.ask('POST', '/admin/keys', value)).status, 403, `made with ${JSON.stringify(value)}`)
        t.equal(
          (await small.ask('PATCH', `/admin/keys/${small.id}`, value)).status,
          403,
          `itself, ${JSON.stringify(value)}`,
        )
        t.equal((await small.ask('PATCH', target, value)).status, 403, `another, ${JSON.stringify(value)}`)
      }
      for (const addresses of [['::ffff:127.0.0.0/104'], ['::/0'], ['0.0.0.0/0']])
        t.equal((await small.ask('POST', '/admin/keys', { addresses })).status, 403, `${addresses}`)
      const less = { models: ['small'], addresses: ['127.0.0.1/32'], limits: { requestsPerSecond: 1 }, expires_at }
      t.match((await small.ask('PATCH', `/admin/keys/${heir.id}`, less)).data, less)
      t.match((await acme.ask('GET', target)).data, { models: null, addresses: null, expires_at: null }, 'untouched')
    })

    t.test('scopes and the team of a key are changed by a caller that has as much', async (t) => {
      const owner = await caller(gateway, { organization: 'acme' })
      t.equal((await owner.ask('POST', '/admin/teams', { name: `moved-${name}` })).status, 201)
      const team = `moved-${name}`
      const { data } = await owner.ask('POST', '/admin/keys', { name: 'mover', scopes: ['models.read'] })
      const target = `/admin/keys/${data.id}`
      const moved = await owner.ask('PATCH', target, { team, scopes: ['models.read', 'api_key.read'], version: 0 })
      t.match(moved.data, { team, scopes: ['models.read', 'api_key.read'], version: 1, models: null })
      const use = () => gateway.call('GET', '/admin/self', undefined, { authorization: `Bearer ${data.key}` })
      t.match((await (await use()).json()) as object, { data: { team, scopes: ['models.read', 'api_key.read'] } })
      t.equal((await owner.ask('PATCH', target, { team: 'no-such' })).status, 400)
      t.equal((await owner.ask('PATCH', target, { scopes: [], version: 0 })).status, 409, 'another was first')
      const narrow = await caller(gateway, { organization: 'acme', scopes: ['api_key.update', 'models.read'] })
      t.equal(
        (await narrow.ask('PATCH', target, { team: null })).status,
        403,
        'whose money is no lesser caller’s choice',
      )
      t.equal((await narrow.ask('PATCH', target, { scopes: ['models.read', 'api_key.update'] })).status, 403)
      t.same(
        (await narrow.ask('PATCH', target, { scopes: ['models.read'] })).data.scopes,
        ['models.read'],
        'less is fine',
      )
      const member = await caller(gateway, { organization: 'acme', team })
      t.equal((await member.ask('PATCH', target, { team: null })).status, 403, 'a caller of a team gives no other')
      t.equal((await owner.ask('PATCH', target, { team: null })).data.team, null)
      const { data: audit } = await owner.ask('GET', '/admin/audit?limit=100')
      const own = audit.acts.filter(({ object }: { object: string }) => object === data.id)
      t.ok(
        own.filter(({ action }: { action: string }) => action === 'key.update').length >= 3,
        'each change is written down',
      )
    })

    t.test('keys are searched, sorted and told by their state', async (t) => {
      const organization = `list-${name}`
      const owner = await caller(gateway, { organization, name: 'Owner', expires_at: Date.now() + 3_600_000 })
      const made = async (name: string, key: object = {}) =>
        (await caller(gateway, { organization, name, scopes: [], ...key })).row
      const beta = await made('beta Nightly', { user: 'ben' })
      await made('alpha nightly', { team: 'night' })
      await made('gone', { expires_at: 1 })
      const revoked = await made('over')
      await gateway.gateway.keys.revoke(revoked.id, organization)
      const names = async (query: string) => {
        const { data } = await owner.ask('GET', `/admin/keys?sort=name&direction=up&${query}`)
        return [data.pagination.total, ...data.keys.map(({ name }: { name: string }) => name)]
      }
      t.same(await names(''), [5, 'Owner', 'alpha nightly', 'beta Nightly', 'gone', 'over'])
      t.same(await names('search=NIGHT'), [2, 'alpha nightly', 'beta Nightly'], 'in any case; a team counts, too')
      t.same(await names('search=ben'), [1, 'beta Nightly'])
      t.same(await names(`search=${beta.hint}&state=active&team=night`), [0])
      t.same(await names('limit=2'), [5, 'Owner', 'alpha nightly'])
      t.same(await names('limit=2&offset=2'), [5, 'beta Nightly', 'gone'])
      t.same(await names('state=revoked'), [1, 'over'])
      t.same(await names('state=expired'), [1, 'gone'])
      t.same(await names('state=active'), [3, 'Owner', 'alpha nightly', 'beta Nightly'])
      t.same(await names('state=active&limit=1&offset=1'), [3, 'alpha nightly'], 'pages of both kinds of active keys')
      const ends = (await owner.ask('GET', '/admin/keys?state=active&sort=expires_at&direction=down')).data.keys
      t.equal(ends[0].name, 'Owner', 'what has no end stands behind')
      t.equal((await owner.ask('GET', '/admin/keys?sort=hash')).status, 400)
    })

    t.test('a key for another user is made by a caller that may delegate', async (t) => {
      const scopes = ['api_key.create', 'files.encrypted.read'] as const
      const ann = await caller(gateway, { organization: 'acme', user: 'ann', scopes })
      const { data, status } = await ann.ask('POST', '/admin/keys', { user: 'ann' })
      t.same([status, data.user, data.makers], [201, 'ann', [ann.id]])
      const refused = await ann.ask('POST', '/admin/keys', { user: 'bob' })
      t.match(refused, { status: 403, error: 'Missing required permissions', validator: { user: /api_key\.delegate/ } })
      t.equal((await acme.ask('POST', '/admin/keys', { user: 'bob' })).data.user, 'bob')
      const odd = [
        '..',
        '.',
        '@',
        '_',
        '__proto__',
        'constructor',
        'toString',
        'ann.',
        '-ann',
        'a'.repeat(129),
        'ä',
        '',
      ]
      for (const user of [...odd, 'a b', 'a/b', 'ann\n']) {
        const { status, validator } = await acme.ask('POST', '/admin/keys', { user })
        t.same([status, Object.keys(validator ?? {})], [400, ['user']], JSON.stringify(user))
      }
      for (const user of ['a', '7', 'ann@example.org', 'a..b', 'a'.repeat(128), 'Constructor'])
        t.equal((await acme.ask('POST', '/admin/keys', { user })).data.user, user)
      const stored = await caller(gateway, { organization: 'acme', user: '..' })
      t.equal((await stored.ask('POST', '/admin/keys', {})).data.user, '..', 'a stored user goes on')
    })

    t.test('every act is written down, and read by its own organisation', async (t) => {
      const org = `audited-${name}`
      const one = await caller(gateway, { organization: org, user: 'ann' })
      const made = await one.ask('POST', '/admin/keys', { name: canary, models: [canary] })
      const { id } = made.data
      const changed = await one.ask('PATCH', `/admin/keys/${id}`, { name: canary })
      const refused = await one.ask('PATCH', `/admin/keys/${id}`, { expires_at: 5 })
      await one.ask('PATCH', `/admin/keys/${canary}`, {})
      await one.ask('DELETE', `/admin/keys/${canary}`)
      const revoked = await one.ask('DELETE', `/admin/keys/${id}`)
      const reloaded = await one.ask('POST', '/admin/reload')
      t.equal(reloaded.status, 400, 'nothing to read it from')
      const { data } = await one.ask('GET', '/admin/audit')
      const by = { actor: one.id, user: 'ann' }
      t.match(data.acts, [
        { ...by, action: 'reload', object: null, request: reloaded.request, outcome: 'refused' },
        { ...by, action: 'key.revoke', object: id, request: revoked.request, outcome: 'done' },
        { ...by, action: 'key.update', object: id, request: refused.request, outcome: 'refused' },
        { ...by, action: 'key.update', object: id, request: changed.request, outcome: 'done' },
        { ...by, action: 'key.create', object: id, request: made.request, outcome: 'done' },
      ])
      t.equal(data.acts.length, 5)
      t.ok(data.acts.every((act: any) => Math.abs(Date.now() - act.at) < 60_000))
      t.notMatch(JSON.stringify(data), canary, 'nothing that a caller wrote')
      t.notMatch(JSON.stringify(data), made.data.key)
      const paged = (await one.ask('GET', '/admin/audit?limit=2&offset=4')).data
      t.same(paged.acts, data.acts.slice(4))
      t.same(paged.pagination, { limit: 2, offset: 4, total: 5, has_more: false })
      const today = new Date().toISOString().slice(0, 10)
      t.equal((await one.ask('GET', `/admin/audit?from=${today}&to=${today}`)).data.acts.length, 5)
      t.equal((await one.ask('GET', `/admin/audit?from=2001-01-01&to=2001-12-31`)).data.acts.length, 0)
      t.equal((await one.ask('GET', '/admin/audit?from=soon')).status, 400)
      t.same((await other.ask('GET', '/admin/audit')).data.acts, [], 'not of others')
      const blind = await caller(gateway, { organization: org, scopes: ['api_key.create'] })
      for (const [method, path] of [
        ['GET', '/admin/audit'],
        ['POST', '/admin/reload'],
        ['GET', `/admin/keys/${id}`],
      ] as const)
        t.equal((await blind.ask(method, path)).status, 403, path)
    })
  })
}

t.test('children share what their maker may use in a day, also after it is gone', async (t) => {
  const gateway = await running(t, memory(), unhurried)
  const maker = await caller(gateway, { organization: 'family', limits: { tokensPerDay: 400 } })
  const heir = async (ask: typeof maker.ask) => {
    const { data } = await ask('POST', '/admin/keys', { scopes })
    const authorization = `Bearer ${data.key}`
    return {
      makers: data.makers,
      id: data.id,
      ask: async (method: string, path: string, body?: unknown) => {
        const answer = await gateway.call(method, path, body, { authorization })
        return { status: answer.status, request: null, ...((await answer.json()) as any) }
      },
    }
  }
  const body = { model: 'rehearsal', messages: [{ role: 'user', content: 'word '.repeat(150) }] }
  const chat = async ({ ask }: Pick<typeof maker, 'ask'>) => (await ask('POST', '/std/chat/completions', body)).status
  const child = await heir(maker.ask)
  const grandchild = await heir(child.ask)
  t.same([child.makers, grandchild.makers], [[maker.id], [maker.id, child.id]])
  t.equal(await chat(grandchild), 200)
  t.equal(await chat(maker), 429, 'one allowance for all')
  t.equal(await chat(await heir(maker.ask)), 429, 'a new key brings no new one')
  await maker.ask('DELETE', `/admin/keys/${maker.id}`)
  t.equal(await chat(grandchild), 429, 'nor does an end of its maker')
  let last: Pick<typeof child, 'ask'> = grandchild
  for (let makers = 3; makers <= 8; makers++) last = await heir(last.ask)
  t.equal((await last.ask('POST', '/admin/keys', {})).status, 400, 'the line ends')
})

t.test('an act that cannot be written down is not done', async (t) => {
  const adapters = memory()
  let failing: 'create' | 'update' | null = null
  const store = given(MetadataStore, 'memory', () => {
    const store = adapters.metadataStore.make(() => ({}) as never)
    const unless =
      <F extends (kind: any, ...rest: any[]) => Promise<any>>(verb: string, run: F) =>
      (kind: any, ...rest: any[]) =>
        failing === verb && kind.name === acts.name ? Promise.reject(new Error('full')) : run(kind, ...rest)
    return { ...store, create: unless('create', store.create), update: unless('update', store.update) }
  })
  const gateway = await running(t, { ...adapters, metadataStore: store })
  const all = async () => ((await (await gateway.call('GET', '/admin/keys')).json()) as any).data.keys
  failing = 'create'
  t.equal((await gateway.call('POST', '/admin/keys', {})).status, 503)
  t.equal((await gateway.call('DELETE', `/admin/keys/${(await all())[0].id}`)).status, 503)
  t.equal((await gateway.call('POST', '/admin/reload')).status, 503)
  t.match(await all(), [{ revoked_at: null }])
  t.equal((await all()).length, 1, 'nothing was done')
  failing = 'update'
  t.equal((await gateway.call('POST', '/admin/keys', {})).status, 503, 'done, and not acknowledged')
  failing = null
  const { data } = (await (await gateway.call('GET', '/admin/audit')).json()) as any
  t.match(data.acts, [{ action: 'key.create', outcome: 'begun' }], 'the log says that nobody knows')
  await t.rejects(gateway.gateway.reload(operator('signal')), { name: 'Unconfigured' })
  t.match(((await (await gateway.call('GET', '/admin/audit')).json()) as any).data.acts[0], {
    actor: 'signal',
    user: null,
  })
})

t.test('an organisation has limits and a quota of its own', async (t) => {
  const settings: SettingsInput = {
    limits: { organization: { requestsPerSecond: 50, tokensPerMinute: 100_000, concurrentRequests: 50 } },
    files: { quota: { files: 3 } },
    organizations: {
      small: { limits: { requestsPerSecond: 2, tokensPerMinute: 500 }, quota: { files: 1 } },
      large: { limits: { tokensPerMinute: null }, quota: { files: null } },
      crowded: { limits: { concurrentRequests: 1 } },
    },
  }
  const gateway = await running(t, memory(), settings)
  const of = async (organization: string) => caller(gateway, { organization })
  const many = async (who: Awaited<ReturnType<typeof of>>, n: number) =>
    (await Promise.all(Array.from({ length: n }, () => who.ask('GET', '/admin/keys')))).map(({ status }) => status)
  t.same((await many(await of('small'), 4)).sort(), [200, 200, 429, 429])
  t.same(new Set(await many(await of('nobody-named'), 10)), new Set([200]))
  const crowded = await of('crowded')
  const slow = request(`${gateway.base}/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${crowded.credential}`, 'content-length': 2 },
  })
  slow.on('error', () => undefined).flushHeaders()
  for (let tries = 0; (await crowded.ask('GET', '/admin/keys')).status === 200 && tries < 50; tries++);
  t.same(await many(crowded, 1), [429], 'one at once')
  slow.destroy()

  const chat = async (organization: string) => {
    const { ask } = await of(organization)
    const body = { model: 'rehearsal', messages: [{ role: 'user', content: 'word '.repeat(2000) }] }
    return (await ask('POST', '/std/chat/completions', body)).status
  }
  await new Promise((resolve) => setTimeout(resolve, 1000))
  t.equal(await chat('small'), 429, 'over its own tokens')
  t.equal(await chat('other'), 200)
  t.equal(await chat('large'), 200)

  const fill = async (organization: string, n: number) => {
    const { ask } = await of(organization)
    const statuses = []
    for (let i = 0; i < n; i++)
      statuses.push((await ask('POST', '/files/encrypted/upload', uploadOf(randomBytes(100)))).status)
    return statuses
  }
  await new Promise((resolve) => setTimeout(resolve, 1000))
  t.same(await fill('small', 2), [200, 400])
  t.same(await fill('other', 4), [200, 200, 200, 400])
  t.same(await fill('large', 5), [200, 200, 200, 200, 200])
})

t.test('of the processes that make a first key at once, one does', async (t) => {
  const gateway = createGateway(memory())
  t.teardown(gateway.close)
  const start = () => makeFirstKey(gateway.keys, gateway.audit)
  const made = (await Promise.all([start(), start(), start()])).filter((text) => text !== null)
  t.equal(made.length, 1)
  t.not(await gateway.keys.find(made[0]!), null)
  const { rows } = await gateway.keys.list(null, 10, 0)
  t.same([rows.length, rows.filter(({ revoked_at }) => revoked_at === null).length], [3, 1])
  t.equal(await start(), null)
})

t.test('ids sort as they were made, whatever the clock says', async (t) => {
  let made = 0
  for (const now of [() => 5, () => Date.now(), () => 1_000_000 - made]) {
    const clock = { ...system.clock, now }
    const ids = Array.from({ length: 10_000 }, () => {
      made++
      return uuid7(clock, system.random)
    })
    t.same([...new Set(ids)].sort(), ids)
  }
})
