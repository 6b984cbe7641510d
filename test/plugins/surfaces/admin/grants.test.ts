import t from 'tap'
import * as v from 'valibot'
import { changedKey, grantedPowers, admitsAll, isWithinBound } from '../../../../plugins/surfaces/admin/grants.ts'
import type { KeyRow } from '../../../../core/access/key-row.ts'
import { SettingsShape } from '../../../../core/settings.ts'

const now = 1_800_000_000_000
const settings = v.parse(SettingsShape, { limits: { key: { tokensPerDay: 1000 } } })

const own: KeyRow = {
  id: 'key_own',
  name: 'own',
  organization: 'acme',
  user: 'anna',
  team: null,
  mode: 'live',
  scopes: ['models.read', 'api_key.create', 'api_key.update'],
  models: ['one', 'two'],
  limits: { tokensPerDay: 500 },
  addresses: ['192.0.2.0/24'],
  makers: ['key_first'],
  hint: 'abcd',
  created_at: now - 1,
  expires_at: now + 1000,
  revoked_at: null,
  version: 0,
}

const refused = (field: string) => ({ name: 'Forbidden', validator: { [field]: /Expected/ } }) as { name: string }

t.test('a new key gets nothing that its maker lacks', (t) => {
  const give = (given: object) => () => grantedPowers(given, own, settings, now)
  t.match(give({})(), { scopes: ['models.read'], models: own.models, limits: own.limits, expires_at: own.expires_at })
  t.same(give({ scopes: own.scopes })().scopes, own.scopes, 'more than the plain scopes is named')
  t.same(give({})().makers, ['key_first', 'key_own'])
  t.throws(give({ scopes: ['models.read', 'api_key.delete'] }), refused('scopes'))
  t.throws(give({ models: ['one', 'three'] }), refused('models'))
  t.throws(give({ models: null }), refused('models'))
  t.throws(give({ addresses: ['192.0.0.0/16'] }), refused('addresses'))
  t.throws(give({ addresses: null }), refused('addresses'))
  t.throws(give({ limits: { tokensPerDay: 501 } }), refused('limits'))
  t.throws(give({ limits: { tokensPerDay: null } }), refused('limits'))
  t.throws(give({ expires_at: now + 1001 }), refused('expires_at'))
  t.throws(give({ expires_at: null }), refused('expires_at'))
  t.throws(give({ expires_at: now }), { name: 'BadRequest' }, 'nor a time that is over')
  t.throws(give({ user: 'bert' }), refused('user'))
  t.same(give({ models: ['one'], addresses: ['192.0.2.7'], expires_at: now + 1000 })().models, ['one'])
  const delegate = { ...own, scopes: [...own.scopes, 'api_key.delegate'] } as KeyRow
  t.equal(grantedPowers({ user: 'bert' }, delegate, settings, now).user, 'bert')
  t.end()
})

t.test('a key stays in the team of its maker, and is given only teams of the configuration', (t) => {
  const organizations = { acme: { teams: { blue: {}, red: {} } } }
  const settings = v.parse(SettingsShape, { organizations })
  const give = (team: string | undefined, of: KeyRow = own) => grantedPowers({ team }, of, settings, now).team
  t.equal(give(undefined), null)
  t.equal(give('blue'), 'blue')
  t.throws(() => give('green'), { name: 'BadRequest', validator: { team: /Expected/ } } as { name: string })
  t.throws(() => give('constructor'), { name: 'BadRequest' })
  t.throws(() => give('blue', { ...own, organization: 'other' }), { name: 'BadRequest' })
  const blue: KeyRow = { ...own, team: 'blue' }
  t.equal(give(undefined, blue), 'blue')
  t.equal(give('blue', blue), 'blue')
  t.throws(() => give('red', blue), refused('team'))
  t.equal(give('gone', { ...own, team: 'gone' }), 'gone', 'a team that was taken out keeps its own')
  t.end()
})

t.test('a key is widened by a caller with every scope of it, and narrowed by any', (t) => {
  const key: KeyRow = { ...own, id: 'key_other', models: ['one'], scopes: ['models.read'], limits: {} }
  const change = (given: object, of = key) => changedKey(given, own, settings, now)(of)
  t.same(change({ models: ['one', 'two'] }).change, { models: ['one', 'two'] })
  t.throws(() => change({ models: ['three'] }), refused('models'))
  const wide: KeyRow = { ...key, scopes: ['models.read', 'audio.translation'] }
  t.throws(() => change({ models: ['one', 'two'] }, wide), refused('models'))
  t.same(change({ models: [] }, wide).change, { models: [] })
  t.throws(() => change({ expires_at: now - 1 }), { name: 'BadRequest' })
  t.end()
})

t.test('scopes are widened by a caller with all of them, and the team by a caller of none', (t) => {
  const organizations = { acme: { teams: { blue: {}, red: {} } } }
  const settings = v.parse(SettingsShape, { organizations })
  const key: KeyRow = { ...own, id: 'key_other', scopes: ['models.read'] }
  const change = (given: object, of = key, by = own, kept?: string) =>
    changedKey(given, by, settings, now, kept)(of).change
  t.same(change({ scopes: ['models.read', 'api_key.update'] }).scopes, ['models.read', 'api_key.update'])
  t.same(change({ scopes: [] }).scopes, [])
  t.throws(() => change({ scopes: ['models.read', 'api_key.delete'] }), refused('scopes'))
  const wide: KeyRow = { ...key, scopes: ['models.read', 'audio.translation'] }
  t.throws(() => change({ scopes: ['models.read', 'audio.translation', 'api_key.update'] }, wide), refused('scopes'))
  t.throws(() => change({ scopes: ['api_key.update'] }, wide), refused('scopes'), 'less of one is no less of another')
  t.same(change({ scopes: ['models.read'] }, wide).scopes, ['models.read'])
  t.equal(change({ team: 'blue' }).team, 'blue')
  t.equal(change({ team: 'kept' }, key, own, 'kept').team, 'kept')
  t.equal(change({ team: null }, { ...key, team: 'blue' }).team, null)
  t.throws(() => change({ team: 'green' }), { name: 'BadRequest', validator: { team: /Expected/ } } as { name: string })
  t.throws(() => change({ team: 'red' }, key, { ...own, team: 'blue' }), refused('team'))
  t.throws(() => change({ team: 'blue' }, wide), refused('team'), 'a lesser caller moves no key')
  t.equal(change({ team: 'gone' }, { ...wide, team: 'gone' }).team, 'gone', 'the same team is no change')
  t.end()
})

t.test('a key that administers is narrowed only while another reaches as far', (t) => {
  const admin: KeyRow = { ...own, id: 'key_admin', scopes: ['api_key.create', 'api_key.delete'], models: ['one'] }
  const { leaves } = changedKey({ models: [] }, own, settings, now)(admin)
  t.type(leaves, 'function')
  t.equal(leaves!({ ...admin, id: 'key_twin' }), true)
  t.type(changedKey({ scopes: ['api_key.create'] }, own, settings, now)(admin).leaves, 'function', 'a scope less, too')
  t.equal(leaves!({ ...admin, id: 'key_less', scopes: ['api_key.create'] }), false)
  t.equal(leaves!({ ...admin, id: 'key_short', expires_at: now + 1 }), false)
  t.equal(leaves!({ ...admin, id: 'key_test', mode: 'test' }), false)
  const plain: KeyRow = { ...admin, scopes: ['models.read'] }
  t.equal(changedKey({ models: [] }, own, settings, now)(plain).leaves, null, 'another key may be narrowed freely')
  t.end()
})

t.test('one list of addresses lies within another entry by entry', (t) => {
  t.ok(admitsAll(null, null))
  t.notOk(admitsAll(['192.0.2.0/24'], null))
  t.ok(admitsAll(['192.0.2.0/24'], ['192.0.2.0/25', '192.0.2.200']))
  t.notOk(admitsAll(['192.0.2.0/24'], ['192.0.2.1', '192.0.3.1']))
  t.notOk(admitsAll(['192.0.2.0/25'], ['192.0.2.0/24']))
  t.notOk(admitsAll(['::ffff:0:0/96'], ['192.0.2.1']), 'an address of one family never lies within the other')
  t.notOk(admitsAll(['::/0'], ['192.0.2.1']), 'whatever the length of the range')
  t.end()
})

t.test('a limit of its own is less than the configured one', (t) => {
  const inner = (limits: object) => ({ ...own, limits })
  t.ok(isWithinBound('limits', inner({ tokensPerDay: 500 }), own, settings))
  const equal = inner({ tokensPerDay: 1000 })
  t.notOk(isWithinBound('limits', inner({}), equal, settings), 'though the configured one is the same today')
  t.ok(isWithinBound('limits', inner({}), { ...own, limits: {} }, settings))
  t.end()
})
