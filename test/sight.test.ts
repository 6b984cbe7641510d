import t, { type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import type { NewKey } from '../core/access/keyring.ts'
import { Upstream } from '../core/ports/upstream.ts'
import { running, unhurried } from './environments.ts'
import { actor, say, stop, usage } from './fakes/backends.ts'
import { until } from './until.ts'
import { given } from './fitted.ts'

/** Two organisations that ask, and one of operators. */
const house = async (t: Test) => {
  const upstreams = [given(Upstream, 'a', () => actor('a', [say('x'), stop, usage(4, 1)]))]
  const models = { small: { upstreams: [{ provider: 'a' }] } }
  const gateway = await running(t, { ...memory(), upstreams }, { models, operators: ['ops'], ...unhurried })
  const made = async (key: NewKey) => {
    const { credential, row } = await gateway.gateway.keys.create(key)
    const call = async (path: string, body?: object) => {
      const answer = await gateway.call(body ? 'POST' : 'GET', path, body, { authorization: `Bearer ${credential}` })
      return { status: answer.status, data: ((await answer.json()) as any).data }
    }
    return { id: row.id, call }
  }
  const ask = { model: 'small', messages: [{ role: 'user', content: 'x' }] }
  const ann = await made({ organization: 'one', user: 'ann', team: 'red' })
  const bob = await made({ organization: 'two', user: 'bob' })
  const ops = await made({ organization: 'ops' })
  for (const { call } of [ann, ann, bob]) await call('/std/chat/completions', ask)
  const whole = async () => (await ops.call('/admin/usage?organization=*')).data.usage
  t.ok(await until(async () => (await whole()).reduce((sum: number, row: any) => sum + row.requests, 0) === 3))
  return { gateway, ann, bob, ops }
}

t.test('operators see the usage of all organisations, and nobody else does', async (t) => {
  const { ann, bob, ops } = await house(t)
  const told = async (query: string, who = ops) => (await who.call(`/admin/usage${query}`)).data.usage
  const rows = await told('?organization=*')
  t.match(
    rows.sort((one: any, other: any) => (one.organization < other.organization ? -1 : 1)),
    [
      { organization: 'one', key: ann.id, user: 'ann', team: 'red', requests: 2 },
      { organization: 'two', key: bob.id, user: 'bob', team: null, requests: 1 },
    ],
  )
  t.match(await told('?organization=two'), [{ key: bob.id }])
  t.match(await told('?organization=*&team=red'), [{ key: ann.id }])
  t.match(await told('?organization=*&user=bob'), [{ key: bob.id }])
  t.same(await told(''), [], 'their own without a word')
  t.match(await told('', ann), [{ key: ann.id }])
  t.match(await told('?organization=one', ann), [{ key: ann.id }])
  for (const path of ['usage', 'audit', 'keys'])
    for (const other of ['two', '*', 'ops'])
      t.equal((await ann.call(`/admin/${path}?organization=${other}`)).status, 403, `${path} of ${other}`)
})

t.test('operators see keys with their last use, and acts', async (t) => {
  const { gateway, ann, bob, ops } = await house(t)
  const today = new Date().toISOString().slice(0, 10)
  const { keys } = (await ops.call('/admin/keys?organization=*')).data
  const lastOf = (id: string) => keys.find((key: any) => key.id === id).last_used
  t.same([ops.id, ann.id, bob.id].map(lastOf), [null, lastOf(bob.id), lastOf(bob.id)])
  t.ok(lastOf(bob.id) <= today && lastOf(bob.id) >= '2026-01-01')
  t.equal((await ann.call(`/admin/keys/${ann.id}`)).data.last_used, lastOf(ann.id))
  t.same(
    (await ops.call('/admin/keys?organization=two')).data.keys.map((key: any) => key.id),
    [bob.id],
  )

  await bob.call('/admin/keys', { name: 'another' })
  t.match((await ops.call('/admin/audit?organization=*')).data.acts, [{ organization: 'two', action: 'key.create' }])
  t.same((await ops.call('/admin/audit')).data.acts, [])
  t.same((await ann.call('/admin/audit')).data.acts, [])
  t.notMatch(JSON.stringify(gateway.logged), /another/)
})
