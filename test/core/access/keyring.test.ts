import t from 'tap'
import * as v from 'valibot'
import { random } from '../../../adapters/memory/platform.ts'
import metadataStore from '../../../adapters/memory/metadata-store.ts'
import { type Scope, scopes } from '../../../core/access/caller.ts'
import { credentialHash } from '../../../core/access/credential.ts'
import { changedKey } from '../../../plugins/surfaces/admin/grants.ts'
import { keys } from '../../../core/access/key-row.ts'
import { Keyring, keyring } from '../../../core/access/keyring.ts'
import { use } from '../../../core/plugin.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Settings, SettingsShape } from '../../../core/settings.ts'
import { fakeClock } from '../../fakes/clock.ts'
import { given, made } from '../../fitted.ts'

const hour = 3_600_000
const usual = v.parse(SettingsShape, {})

const house = (rows: MetadataStore = metadataStore.create({}, {}, 'rows'), settings = usual) => {
  const clock = fakeClock(Date.UTC(2030, 0, 31, 12))
  const ring = (): Keyring =>
    made(
      Keyring,
      use(keyring),
      use(random),
      given(MetadataStore, 'rows', () => rows),
      given(Clock, 'clock', () => clock),
      given(Settings, 'settings', () => settings),
    )
  return { rows, clock, ring, keyring: ring() }
}

t.test('a key that was revoked or has expired stays dead', async (t) => {
  const { keyring, clock } = house()
  const { row: revoked } = await keyring.create({})
  await keyring.revoke(revoked.id, null)
  const { row: expired, credential } = await keyring.create({ expires_at: clock.now() + hour })
  await clock.pass(hour)
  const dead = { name: 'BadRequest', message: 'The key was revoked or has expired' }
  for (const { id } of [revoked, expired])
    for (const change of [{ expires_at: clock.now() + hour }, { expires_at: null }, { name: 'x' }, {}])
      await t.rejects(keyring.change(id, null, change), dead)
  t.equal(await keyring.find(credential), null)
  t.ok(await keyring.revoke(expired.id, null), 'though it may be revoked')
})

t.test('a stored key of 1.0.0 goes on, and has the scopes that came later if it has all others', async (t) => {
  const { keyring, rows } = house()
  const twelve = scopes.filter((scope) => scope !== 'api_key.delegate')
  const stored = async (held: readonly Scope[], now?: object) => {
    const { credential, row } = await keyring.create({ scopes: held })
    const { makers: _, ...old } = row
    await rows.remove(keys, credentialHash(credential))
    await rows.create(keys, credentialHash(credential), { ...old, ...now })
    return { id: row.id, found: (await keyring.find(credential))?.caller.scopes }
  }
  const whole = await stored(twelve)
  t.same(whole.found, scopes)
  t.same((await keyring.get(whole.id, null))?.scopes, scopes)
  t.match(await keyring.change(whole.id, null, { name: 'changed' }), { name: 'changed', scopes, makers: [] })
  t.match((await keyring.list(null, 1, 0)).rows[0], { scopes, makers: [] })
  t.same((await stored(twelve.slice(1))).found, twelve.slice(1), 'not one that lacks any')
  t.same((await stored(twelve, { makers: [] })).found, twelve, 'not one that was made since without it')
})

t.test('a caller knows its team, and a key of 1.0.0 has none', async (t) => {
  const { keyring, rows } = house()
  const { credential, row } = await keyring.create({ team: 'blue' })
  t.equal((await keyring.find(credential))?.caller.team, 'blue')
  const { team: _, ...old } = row
  await rows.remove(keys, credentialHash(credential))
  await rows.create(keys, credentialHash(credential), old)
  t.equal((await keyring.get(row.id, null))?.team, null)
})

t.test('a caller knows the limits of its makers as they are now, though they were revoked', async (t) => {
  const { keyring, clock } = house()
  const { row: first } = await keyring.create({ limits: { tokensPerDay: 100 } })
  const { row: second } = await keyring.create({ makers: [first.id], limits: { audioMinutesPerDay: 5 } })
  const { credential } = await keyring.create({ makers: [first.id, second.id] })
  const makers = async () => (await keyring.find(credential))?.caller.makers
  const mine = { key: second.id, limits: { audioMinutesPerDay: 5 } }
  t.same(await makers(), [{ key: first.id, limits: { tokensPerDay: 100 } }, mine])
  await keyring.change(first.id, null, { limits: { tokensPerDay: 7 } })
  await keyring.revoke(first.id, null)
  await clock.pass(5_000)
  t.same(await makers(), [{ key: first.id, limits: { tokensPerDay: 7 } }, mine])
  const line = Array.from({ length: 8 }, () => first.id)
  t.ok(await keyring.create({ makers: line }))
  await t.rejects(keyring.create({ makers: [...line, first.id] }), { name: 'BadRequest' }, 'nine are too many')
})

t.test('of acts at once that rest on each other’s keys, one leaves its key', async (t) => {
  const inner: MetadataStore = metadataStore.create({}, {}, 'rows')
  const turns = async () => {
    for (let left = Math.floor(Math.random() * 4); left > 0; left--) await new Promise(setImmediate)
  }
  const slow: MetadataStore = {
    ...inner,
    list: async (...given) => (await turns(), inner.list(...given)),
    update: async (...given) => (await turns(), inner.update(...given)),
  }
  const { ring, clock } = house(slow)
  const processes = [ring(), ring(), ring()]
  let done = 0
  for (let round = 0; round < 100; round++) {
    const organization = `race-${round}`
    const targets = await Promise.all(processes.map((process) => process.create({ organization })))
    const { row: lesser } = await processes[0]!.create({ organization, scopes: ['api_key.update'] })
    const narrowed = changedKey({ models: [] }, lesser, usual, clock.now())
    const acts = processes.map((process, at) => process.change(targets[at]!.row.id, organization, narrowed))
    await Promise.allSettled(acts)
    const { rows } = await processes[0]!.list(organization, 10, 0)
    const left = rows.filter(({ id, models }) => id !== lesser.id && models === null).length
    if (left === 0) return t.fail(`none is left in round ${round}`)
    done += 3 - left
  }
  t.ok(done > 100, `${done} of 200 were done`)
})

t.test('a key ends with its time, though it was used a moment ago', async (t) => {
  const { keyring, clock } = house()
  const { credential } = await keyring.create({ expires_at: clock.now() + 1000 })
  await clock.pass(999)
  t.ok(await keyring.find(credential))
  await clock.pass(1)
  t.equal(await keyring.find(credential), null)
})

t.test('a revoked key is refused at once where it was revoked, and within five seconds elsewhere', async (t) => {
  const { keyring, ring, clock } = house()
  const elsewhere = ring()
  const { credential, row } = await keyring.create({})
  t.ok((await keyring.find(credential)) && (await elsewhere.find(credential)))
  await keyring.revoke(row.id, null)
  t.equal(await keyring.find(credential), null)
  await clock.pass(4_999)
  t.ok(await elsewhere.find(credential))
  await clock.pass(1)
  t.equal(await elsewhere.find(credential), null)
})

t.test('a change of a key counts at once where it was made', async (t) => {
  const { keyring } = house()
  const { credential, row } = await keyring.create({})
  await keyring.find(credential)
  await keyring.change(row.id, null, { models: ['one'] })
  t.same((await keyring.find(credential))?.caller.models, ['one'])
})

t.test('a clock that was set back keeps no key alive', async (t) => {
  const { keyring, ring, clock } = house()
  const elsewhere = ring()
  const { credential, row } = await keyring.create({})
  await elsewhere.find(credential)
  await keyring.revoke(row.id, null)
  const now = clock.now()
  clock.now = () => now - hour
  t.equal(await elsewhere.find(credential), null)
})

t.test('a store that can not be read refuses nobody whose key was read just now', async (t) => {
  const inner: MetadataStore = metadataStore.create({}, {}, 'rows')
  let down = false
  const rows: MetadataStore = {
    ...inner,
    get: async (...given) => {
      if (down) throw new Error('down')
      return inner.get(...given)
    },
  }
  const { keyring, clock } = house(rows)
  const { credential } = await keyring.create({})
  await keyring.find(credential)
  down = true
  t.ok(await keyring.find(credential))
  await clock.pass(5_000)
  await t.rejects(keyring.find(credential), { message: 'down' })
})

t.test('a test key opens nothing in production', async (t) => {
  const rows: MetadataStore = metadataStore.create({}, {}, 'rows')
  const { keyring } = house(rows, v.parse(SettingsShape, { env: 'development' }))
  const { credential } = await keyring.create({ mode: 'test' })
  t.match(credential, /^sk_test_/)
  t.ok(await keyring.find(credential))
  t.equal(await house(rows, v.parse(SettingsShape, { env: 'production' })).keyring.find(credential), null)
})

t.test('a key is admitted from its addresses alone', async (t) => {
  const { keyring } = house()
  const { credential } = await keyring.create({ addresses: ['192.0.2.0/24', '2001:db8::/32'] })
  const { admits } = (await keyring.find(credential))!
  t.same(['192.0.2.9', '2001:db8::1'].map(admits), [true, true])
  t.same(['192.0.3.9', '2001:db9::1', null].map(admits), [false, false, false])
  await t.rejects(keyring.create({ addresses: ['192.0.2.0/33'] }), { name: 'BadRequest' })
})

t.test('the store holds the hash of a key, and never the key', async (t) => {
  const { keyring, rows } = house()
  const { credential, row } = await keyring.create({})
  t.match(credential, /^sk_live_[1-9A-HJ-NP-Za-km-z]{44}$/)
  t.notOk(JSON.stringify(await rows.list(keys, {})).includes(credential.slice(8, 30)))
  t.equal(row.hint, credential.slice(-4))
  t.equal(await keyring.find(`${credential}1`), null)
  t.equal(await keyring.find(credentialHash(credential)), null, 'and the hash opens nothing')
})

t.test(
  'a look-up tells nothing of a stored key: wrong keys go the same way, by hashes that share no beginning',
  async (t) => {
    const rows = metadataStore.create({}, {}, 'rows') as MetadataStore
    const looks: string[] = []
    const listened: MetadataStore = {
      ...rows,
      get(kind, id, ...more) {
        looks.push(id)
        return rows.get(kind, id, ...more)
      },
    }
    const { keyring } = house(listened)
    const { credential } = await keyring.create({})
    looks.length = 0
    const other = (mark: string) => (mark === 'a' ? 'b' : 'a')
    /** Keys that agree with the stored one in all but one place, the last of which is right but for its end. */
    const near = [8, 20, 35, credential.length - 1].map(
      (at) => credential.slice(0, at) + other(credential.charAt(at)) + credential.slice(at + 1),
    )
    for (const wrong of near) {
      looks.length = 0
      t.equal(await keyring.find(wrong), null)
      t.same(looks, [credentialHash(wrong)], 'one look by the hash')
    }
    const hashes = near.map(credentialHash)
    const right = credentialHash(credential)
    t.ok(hashes.every((hash) => hash.slice(0, 6) !== right.slice(0, 6)))
  },
)
