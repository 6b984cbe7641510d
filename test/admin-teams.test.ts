import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { Upstream } from '../core/ports/upstream.ts'
import type { SettingsInput } from '../core/settings.ts'
import { environments, running } from './environments.ts'
import { actor, say, stop, usage } from './fakes/backends.ts'
import { given } from './fitted.ts'

type Key = Parameters<Awaited<ReturnType<typeof running>>['gateway']['keys']['create']>[0]

const price = { prompt_price_per_k: 0.001, completion_price_per_k: 0.002 }
const settings: SettingsInput = {
  operators: ['platform'],
  models: { small: { upstreams: [{ provider: 'a' }], price_config: { standard: { eu: price } } } },
  organizations: { acme: { teams: { red: { costPerMonth: 7 } } } },
}

const opened = async (t: Test, adapters: Parameters<typeof running>[1]) => {
  const upstreams = [given(Upstream, 'a', () => actor('a', [say('Hi'), stop, usage(400, 100)]))]
  const gateway = await running(t, { ...adapters, upstreams }, settings)
  const caller = async (key: Key = {}) => {
    const { credential, row } = await gateway.gateway.keys.create({ organization: 'acme', ...key })
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer = await gateway.call(method, path, body, { authorization: `Bearer ${credential}` })
      return { status: answer.status, headers: answer.headers, ...((await answer.json()) as any) }
    }
    return { ask, row, credential }
  }
  return { ...gateway, caller }
}

for (const [name, adapters] of Object.entries(environments)) {
  t.test(name, async (t) => {
    const doors = await opened(t, await adapters(t))
    const acme = await doors.caller()
    const platform = await doors.caller({ organization: 'platform' })

    t.test('a team is made, changed, closed and opened again, and the audit says so', async (t) => {
      const made = await acme.ask('POST', '/admin/teams', { name: 'blue', budgets: { costPerMonth: 5 } })
      t.match(made, {
        status: 201,
        data: {
          organization: 'acme',
          name: 'blue',
          source: 'store',
          budgets: { costPerMonth: 5 },
          version: 0,
          closed_at: null,
        },
      })
      t.same((await acme.ask('GET', '/admin/teams/blue')).data, made.data)
      const changed = await acme.ask('PATCH', '/admin/teams/blue', { budgets: { costPerDay: 2 }, version: 0 })
      t.same(
        [changed.status, changed.data.budgets, changed.data.version],
        [200, { costPerDay: 2 }, 1],
        'all budgets at once',
      )
      const closed = await acme.ask('DELETE', '/admin/teams/blue')
      t.ok(closed.data.closed_at > 0)
      t.equal((await acme.ask('POST', '/admin/keys', { team: 'blue' })).status, 400, 'no key is made for a closed team')
      const open = await acme.ask('PATCH', '/admin/teams/blue', { budgets: { costPerDay: 2 }, version: 2 })
      t.equal(open.data.closed_at, null)
      t.equal((await acme.ask('POST', '/admin/keys', { team: 'blue' })).data.team, 'blue')
      const acts = (await acme.ask('GET', '/admin/audit')).data.acts.filter((act: any) => act.object === 'blue')
      t.same(
        acts.map((act: any) => [act.action, act.outcome]).reverse(),
        [...['create', 'update', 'close', 'update']].map((verb) => [`team.${verb}`, 'done']),
      )
    })

    t.test('of two operators at once, the second is told', async (t) => {
      await acme.ask('POST', '/admin/teams', { name: 'both' })
      const both = await Promise.all(
        [3, 4].map((costPerDay) => acme.ask('PATCH', '/admin/teams/both', { budgets: { costPerDay }, version: 0 })),
      )
      t.same(both.map(({ status }) => status).sort(), [200, 409])
      const kept = both.find(({ status }) => status === 200)!.data
      t.same((await acme.ask('GET', '/admin/teams/both')).data, kept, 'the first difference stands')
      const key = (await acme.ask('POST', '/admin/keys', { name: 'one' })).data
      const names = await Promise.all(
        ['a', 'b'].map((name) => acme.ask('PATCH', `/admin/keys/${key.id}`, { name, version: key.version })),
      )
      t.same(names.map(({ status }) => status).sort(), [200, 409])
      t.equal(
        (await acme.ask('PATCH', `/admin/keys/${key.id}`, { name: 'c' })).status,
        200,
        'without a version it is the last word',
      )
    })

    t.test('a team of the configuration is listed, and nothing changes or doubles it', async (t) => {
      const { teams, pagination } = (await acme.ask('GET', '/admin/teams?limit=2')).data
      t.same(
        teams.map((team: any) => [team.name, team.source]),
        [
          ['blue', 'store'],
          ['both', 'store'],
        ],
      )
      t.match(pagination, { total: 3, has_more: true })
      const red = (await acme.ask('GET', '/admin/teams?limit=2&offset=2')).data.teams[0]
      t.match(red, { name: 'red', source: 'configuration', budgets: { costPerMonth: 7 }, created_at: null })
      for (const [method, path, body] of [
        ['POST', '/admin/teams', { name: 'red' }],
        ['PATCH', '/admin/teams/red', { budgets: {}, version: 0 }],
        ['DELETE', '/admin/teams/red', undefined],
      ] as const)
        t.equal((await acme.ask(method, path, body)).status, 409, `${method} ${path}`)
      t.equal((await acme.ask('POST', '/admin/teams', { name: 'blue' })).status, 409, 'a name is taken once')
    })

    t.test('another organisation neither sees nor changes a team, and operators see it', async (t) => {
      const other = await doors.caller({ organization: 'other' })
      t.same((await other.ask('GET', '/admin/teams')).data.teams, [])
      for (const [method, body] of [['GET'], ['PATCH', { budgets: {}, version: 2 }], ['DELETE']] as const)
        t.equal((await other.ask(method, '/admin/teams/blue', body)).status, 404, method)
      t.equal((await other.ask('GET', '/admin/teams?organization=acme')).status, 403)
      const seen = (await platform.ask('GET', '/admin/teams?organization=*')).data.teams
      t.same(
        seen.map((team: any) => `${team.organization}/${team.name}`),
        ['acme/blue', 'acme/both', 'acme/red'],
      )
    })

    t.test('a scope, a team and a budget of the caller that are too small are refused', async (t) => {
      const acts = [
        ['api_key.create', 'POST', '/admin/teams', { name: 'mine' }],
        ['api_key.update', 'PATCH', '/admin/teams/both', { budgets: {}, version: 1 }],
        ['api_key.delete', 'DELETE', '/admin/teams/both', undefined],
      ] as const
      const scopes = ['api_key.read', ...acts.map(([scope]) => scope)] as const
      for (const [scope, method, path, body] of acts) {
        const lacking = await doors.caller({ scopes: scopes.filter((one) => one !== scope) })
        t.match(await lacking.ask(method, path, body), { status: 403, validator: { scope: /Expected/ } }, method)
        const inTeam = await doors.caller({ scopes, team: 'red' })
        t.match(await inTeam.ask(method, path, body), { status: 403, validator: { team: /Expected/ } }, method)
      }
      const small = await doors.caller({ scopes, limits: { costPerDay: 3 } })
      for (const budgets of [{}, { costPerDay: 4 }, { costPerDay: null }])
        t.match(
          await small.ask('POST', '/admin/teams', { name: 'large', budgets }),
          { status: 403, validator: { costPerDay: /Expected/ } },
          JSON.stringify(budgets),
        )
      t.equal((await small.ask('POST', '/admin/teams', { name: 'small', budgets: { costPerDay: 3 } })).status, 201)
      for (const name of ['..', 'a/b', '__proto__', '<b>', ''])
        t.equal((await acme.ask('POST', '/admin/teams', { name })).status, 400, name)
    })
  })
}

t.test('a call keeps to the budget of a stored team, and a closed team has no callers', async (t) => {
  const doors = await opened(t, memory())
  const acme = await doors.caller()
  await acme.ask('POST', '/admin/teams', { name: 'blue', budgets: { costPerDay: 0.001 } })
  const body = { model: 'small', max_tokens: 100, messages: [{ role: 'user', content: 'Say it.' }] }
  const member = await doors.caller({ team: 'blue' })
  const chat = (of = member) => of.ask('POST', '/std/chat/completions', body)
  const until = async (status: number, of: () => ReturnType<typeof chat>) => {
    for (let tries = 0; tries < 50; tries++) {
      const answer = await of()
      if (answer.status === status) return answer
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`no ${status}`)
  }
  t.equal((await chat()).status, 200)
  const refused = await until(429, chat)
  t.equal(refused.headers.get('x-sealgate-budget'), 'team/day')
  t.equal((await chat(acme)).status, 200, 'the team alone has this budget')
  await acme.ask('PATCH', '/admin/teams/blue', { budgets: { costPerDay: 1 }, version: 0 })
  const fresh = await doors.caller({ team: 'blue' })
  t.equal((await chat(fresh)).status, 200, 'a raised budget counts for a key that is read now')
  await acme.ask('DELETE', '/admin/teams/blue')
  const late = await doors.caller({ team: 'blue' })
  t.equal((await chat(late)).status, 401)
  await acme.ask('PATCH', '/admin/teams/blue', { budgets: { costPerDay: 1 }, version: 2 })
  t.equal((await chat(late)).status, 200, 'a team that is opened again has its callers back')
})

t.test('the use of a key counts for the team that it has at the call', async (t) => {
  const doors = await opened(t, memory())
  const acme = await doors.caller()
  for (const name of ['blue', 'red']) await acme.ask('POST', '/admin/teams', { name })
  const { data } = await acme.ask('POST', '/admin/keys', { team: 'blue' })
  const body = { model: 'small', max_tokens: 100, messages: [{ role: 'user', content: 'Say it.' }] }
  const chat = () => doors.call('POST', '/std/chat/completions', body, { authorization: `Bearer ${data.key}` })
  t.equal((await chat()).status, 200)
  t.equal((await acme.ask('PATCH', `/admin/keys/${data.id}`, { team: 'red' })).status, 200)
  t.equal((await chat()).status, 200)
  t.equal((await chat()).status, 200)
  const sums = async () => (await acme.ask('GET', '/admin/usage/sums?by=team')).data.sums
  const counted = async () => (await sums()).map(({ name, requests }: any) => `${name} ${requests}`).join()
  for (let tries = 0; tries < 300 && (await counted()) !== 'blue 1,red 2'; tries++)
    await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(await counted(), 'blue 1,red 2')
})

t.test('a team that the file names later takes the place of the stored one', async (t) => {
  const doors = await opened(t, memory())
  const acme = await doors.caller()
  await acme.ask('POST', '/admin/teams', { name: 'late', budgets: { costPerDay: 3 } })
  await acme.ask('DELETE', '/admin/teams/late')
  const teams = { late: { costPerMonth: 9 } }
  await doors.gateway.renew({ settings: { ...settings, organizations: { acme: { teams } } } })
  t.match((await acme.ask('GET', '/admin/teams')).data.teams, [
    { name: 'late', source: 'configuration', budgets: teams.late, closed_at: null },
  ])
  t.equal((await acme.ask('PATCH', '/admin/teams/late', { budgets: {}, version: 1 })).status, 409)
  const member = await doors.caller({ team: 'late' })
  t.equal((await member.ask('GET', '/admin/self')).status, 200, 'the closed one is forgotten')
  await doors.gateway.renew({ settings })
  t.match((await acme.ask('GET', '/admin/teams/late')).data, {
    source: 'store',
    budgets: { costPerDay: 3 },
    version: 1,
  })
})
