import t from 'tap'
import * as v from 'valibot'
import metadataStore from '../../../../adapters/memory/metadata-store.ts'
import { clock, random } from '../../../../adapters/memory/platform.ts'
import { makeFirstKey, storeGivenKey } from '../../../../adapters/production/commands/serve.ts'
import { Audit, audit } from '../../../../core/access/audit.ts'
import { Keyring, keyring } from '../../../../core/access/keyring.ts'
import { use } from '../../../../core/plugin.ts'
import { MetadataStore } from '../../../../core/ports/metadata-store.ts'
import { Settings, SettingsShape } from '../../../../core/settings.ts'
import { fitted, given } from '../../../fitted.ts'

/** One start over a store that others share. */
const start = (rows: MetadataStore, testKeys = true) =>
  fitted(
    use(keyring),
    use(audit),
    use(clock),
    use(random),
    given(MetadataStore, 'rows', () => rows),
    given(Settings, 'settings', () => v.parse(SettingsShape, { testKeys })),
  ).supply({ keys: Keyring, audit: Audit })

t.test('of first starts at once, one tells a key, and that key alone lives', async (t) => {
  const inner: MetadataStore = metadataStore.create({}, {}, 'rows')
  let looking = 0
  let all = () => {}
  const both = new Promise<void>((resolve) => (all = resolve))
  const rows: MetadataStore = {
    ...inner,
    // Nobody finds a key before everybody has looked for one.
    async list(kind, query) {
      const found = await inner.list(kind, query)
      if (kind.name === 'key' && query.limit === 1) {
        if (++looking === 3) all()
        await both
      }
      return found
    },
  }
  const starts = [start(rows), start(rows), start(rows)]
  const told = (await Promise.all(starts.map(({ keys, audit }) => makeFirstKey(keys, audit)))).filter(
    (text) => text !== null,
  )
  t.equal(told.length, 1)
  t.ok(await start(inner).keys.find(told[0]!))
  const living = (await start(inner).keys.list(null, 10, 0)).rows.filter(({ revoked_at }) => revoked_at === null)
  t.equal(living.length, 1)
})

t.test('a store with a key gets no further one', async (t) => {
  const rows: MetadataStore = metadataStore.create({}, {}, 'rows')
  const { keys, audit } = start(rows)
  t.type(await makeFirstKey(keys, audit), 'string')
  t.equal(await makeFirstKey(keys, audit), null)
  const given = `sk_live_${'2'.repeat(44)}`
  t.equal(await storeGivenKey(keys, audit, rows, given), null)
  t.equal(await storeGivenKey(keys, audit, rows, given), null)
  t.ok(await keys.find(given))
  t.equal((await keys.list(null, 10, 0)).total, 2, 'a given key is made once')
})

const day = 86_400_000

t.test('a given key that opens nothing is told with the reason, and the audit knows no new key', async (t) => {
  const rows: MetadataStore = metadataStore.create({}, {}, 'rows')
  const { keys, audit } = start(rows, false)
  const given = `sk_live_${'2'.repeat(44)}`
  const old = `sk_live_${'3'.repeat(44)}`
  const test = `sk_test_${'4'.repeat(44)}`
  await storeGivenKey(keys, audit, rows, given)
  await keys.revoke((await keys.list(null, 1, 0)).rows[0]!.id, null)
  await keys.create({ expires_at: Date.now() - day }, old)
  const acts = async () => (await audit.list({})).total
  const before = await acts()
  t.equal(await storeGivenKey(keys, audit, rows, given), 'it was revoked')
  t.equal(await storeGivenKey(keys, audit, rows, old), 'it has expired')
  t.equal(await acts(), before)
  for (const time of ['first', 'again'])
    t.match(await storeGivenKey(keys, audit, rows, test), /^it is a test key/, time)
  t.equal(await acts(), before + 1, 'a new key is stored once')
})

t.test('of starts at once with one given key, one makes the key, and all of them take it', async (t) => {
  const rows: MetadataStore = metadataStore.create({}, {}, 'rows')
  const given = `sk_live_${'2'.repeat(44)}`
  const starts = [start(rows), start(rows)]
  // The second start stores the key after the first one has looked for it.
  const late: MetadataStore = {
    ...rows,
    async get(kind, id) {
      const found = await rows.get(kind, id)
      await storeGivenKey(starts[1]!.keys, starts[1]!.audit, rows, given)
      return found
    },
  }
  t.equal(await storeGivenKey(starts[0]!.keys, starts[0]!.audit, late, given), null)
  const outcomes = (await starts[0]!.audit.list({})).rows.map(({ row }) => row.outcome)
  t.same(outcomes.sort(), ['done', 'refused'])
})
