import t, { type Test } from 'tap'
import * as v from 'valibot'
import { memory } from '../../../../adapters/memory/index.ts'
import metadataStore from '../../../../adapters/memory/metadata-store.ts'
import { random } from '../../../../adapters/memory/platform.ts'
import { ConsoleSessions, consoleSessions } from '../../../../plugins/surfaces/console/console-sessions.ts'
import { Keyring, keyring } from '../../../../core/access/keyring.ts'
import { Unavailable } from '../../../../core/errors.ts'
import { use } from '../../../../core/plugin.ts'
import { MetadataStore } from '../../../../core/ports/metadata-store.ts'
import { Clock } from '../../../../core/ports/platform.ts'
import { Settings, SettingsShape } from '../../../../core/settings.ts'
import { consoleLink } from '../../../../adapters/production/commands/console-link.ts'
import { running } from '../../../environments.ts'
import { fakeClock } from '../../../fakes/clock.ts'
import { fitted, given } from '../../../fitted.ts'

/** Processes over one store. */
const processes = (count: number) => {
  const rows: MetadataStore = metadataStore.create({}, {}, 'rows')
  const clock = fakeClock()
  const supplied = Array.from({ length: count }, () =>
    fitted(
      ...[use(keyring), use(consoleSessions), use(random)],
      given(MetadataStore, 'rows', () => rows),
      given(Clock, 'clock', () => clock),
      given(Settings, 'settings', () => v.parse(SettingsShape, {})),
    ).supply({ keys: Keyring, sessions: ConsoleSessions }),
  )
  return { supplied, clock, rows }
}

t.test('one of several processes is given a link, and each knows the session', async (t) => {
  const { supplied } = processes(4)
  const [one, other] = [supplied[0]!, supplied[1]!]
  const { credential, row } = await one.keys.create({ name: 'first' })
  const secret = await one.sessions.link(credential)
  t.match(secret, /^[\w-]{43}$/)
  const link = await other.sessions.read(secret)
  t.equal(link?.holder.caller.key, row.id)
  const taken = (await Promise.all(supplied.map(({ sessions }) => sessions.take(secret)))).filter(Boolean)
  t.equal(taken.length, 1)
  const lent = await one.sessions.open(link!, 1_000, 1_000)
  t.ok(other.sessions.takes(lent.credential))
  t.notOk(other.sessions.takes(credential), 'a key is no session')
  t.equal((await other.sessions.find(lent.credential))?.caller.key, row.id)
  t.equal(await other.keys.find(lent.credential), null, 'and a session is no key')
  await other.sessions.close(lent.credential)
  await other.sessions.close(lent.credential)
  t.equal(await one.sessions.find(lent.credential), null)
})

t.test('a link and a session end at their times, and with their key', async (t) => {
  const { supplied, clock, rows } = processes(1)
  const { keys, sessions } = supplied[0]!
  const { credential, row } = await keys.create({ name: 'first' })
  const [early, late, last] = [
    await sessions.link(credential),
    await sessions.link(credential),
    await sessions.link(credential),
  ]
  await clock.pass(299_999)
  const taken = await sessions.read(early)
  t.ok(taken)
  await clock.pass(1)
  t.equal(await sessions.read(late), null)
  t.equal(await sessions.read(last), null)
  const { credential: session, expires_at } = await sessions.open(taken!, 5_000, 5_000)
  t.equal(expires_at, clock.now() + 5_000)
  const stored = JSON.stringify(
    await Promise.all([
      rows.list({ name: 'console-link', indexes: [] }, {}),
      rows.list({ name: 'console-session', indexes: [] }, {}),
    ]),
  )
  for (const secret of [early, late, last, session, credential])
    t.notOk(stored.includes(secret), 'the store has hashes alone')
  await clock.pass(4_999)
  t.ok(await sessions.find(session))
  await keys.revoke(row.id, null)
  t.equal(await sessions.find(session), null, 'no session outlives its key')
  await clock.pass(1)
  t.equal(await sessions.find(session), null)
})

t.test(
  'a session ends where nobody uses it, is renewed by its secret alone, and ends with all of its key',
  async (t) => {
    const { supplied, clock, rows } = processes(2)
    const [one, other] = [supplied[0]!, supplied[1]!]
    const { credential, row } = await one.keys.create({ name: 'first' })
    const hold = async () => (await one.sessions.hold(credential, 5_000, 1_000))!
    const [busy, idle] = [await hold(), await hold()]
    t.equal(busy.expires_at, clock.now() + 1_000)
    t.equal((await other.sessions.find(busy.credential))?.caller.key, row.id)
    for (const wrong of [busy.credential, credential, '', 'x'.repeat(43)])
      t.equal(await other.sessions.renew(wrong, 1_000), null, 'no credential renews a session')
    const stored = JSON.stringify(await rows.list({ name: 'console-session', indexes: [] }, {}))
    for (const secret of [busy.secret, busy.credential, credential]) t.notOk(stored.includes(secret))
    await clock.pass(999)
    t.same(await other.sessions.renew(busy.secret, 1_000), {
      credential: busy.credential,
      expires_at: clock.now() + 1_000,
    })
    await clock.pass(1)
    t.equal(await one.sessions.find(idle.credential), null, 'nobody used it')
    t.equal(await one.sessions.renew(idle.secret, 1_000), null, 'and it stays ended')
    t.ok(await one.sessions.find(busy.credential))
    const last = await one.sessions.renew(busy.secret, 60_000)
    t.equal(last?.expires_at, clock.now() + 4_000, 'no use makes it longer than its whole time')
    const heir = (await one.sessions.hold(busy.credential, 5_000, 1_000))!
    t.equal(await one.sessions.find(busy.credential), null, 'a session that is held anew ends')
    t.equal(await one.sessions.hold(busy.credential, 5_000, 1_000), null)
    t.equal(await one.sessions.hold('a.to.ken', 5_000, 1_000), null, 'a token has no session')
    const stranger = (await one.sessions.hold((await one.keys.create({ name: 'other' })).credential, 5_000, 1_000))!
    const third = await hold()
    await other.sessions.close(third.credential, true)
    for (const ended of [heir, third]) t.equal(await one.sessions.find(ended.credential), null)
    t.ok(await one.sessions.find(stranger.credential), 'those of another key stay')
    await one.keys.revoke((await one.sessions.find(stranger.credential))!.caller.key, null)
    t.equal(await one.sessions.renew(stranger.secret, 1_000), null, 'a session of a revoked key is renewed no more')
  },
)

t.test('a link is given where this machine alone reaches the console', async (t) => {
  const { supplied } = processes(1)
  const { keys, sessions } = supplied[0]!
  const { credential } = await keys.create({ name: 'first' })
  const linkAt = (address: string, surfaces = ['console']) =>
    consoleLink(sessions, credential, { address: { address }, url: 'http://there:1', prefix: '/ai', surfaces })
  for (const near of ['127.0.0.1', '127.3.2.1', '::1'])
    t.match(await linkAt(near), /^http:\/\/there:1\/ai\/console#link=[\w-]{43}$/)
  for (const far of ['0.0.0.0', '::', '10.0.0.1', '::ffff:10.0.0.1', '1270.0.0.1', 'fe80::1'])
    t.equal(await linkAt(far), null, far)
  t.equal(await linkAt('127.0.0.1', ['admin']), null, 'without a console there is none')
})

/** A gateway whose store of rows fails in some writes. */
const failing = async (t: Test) => {
  const adapters = memory()
  const kept = adapters.metadataStore.make(() => ({}) as never)
  let fails: (verb: string, kind: string) => boolean | Promise<boolean> = () => false
  const unless =
    <F extends (kind: any, ...rest: any[]) => Promise<any>>(verb: string, run: F) =>
    async (kind: any, ...rest: any[]) => {
      if (await fails(verb, kind.name)) throw new Unavailable()
      return run(kind, ...rest)
    }
  const rows = {
    ...kept,
    create: unless('create', kept.create),
    update: unless('update', kept.update),
    remove: unless('remove', kept.remove),
  } as MetadataStore
  const settings = { limits: { keyless: { requestsPerSecond: null } } }
  const gateway = await running(
    t,
    { ...adapters, metadataStore: given(MetadataStore, 'failing', () => rows) },
    settings,
  )
  const redeem = (link: string) =>
    fetch(`${gateway.base}/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ link }),
    })
  const { sessions } = gateway.gateway.supply({ sessions: ConsoleSessions })
  return { rows, redeem, link: () => sessions.link(gateway.key), fail: (next: typeof fails) => void (fails = next) }
}

t.test('a link stays good while the store of rows is away', async (t) => {
  const { redeem, link, fail } = await failing(t)
  const secret = await link()
  for (const [verb, kind] of [
    ['create', 'audit'],
    ['create', 'console-session'],
    ['update', 'audit'],
    ['remove', 'console-link'],
  ]) {
    fail((...at) => at[0] === verb && at[1] === kind)
    t.equal((await redeem(secret)).status, 503, `${verb} ${kind}`)
  }
  fail(() => false)
  t.equal((await redeem(secret)).status, 201)
})

t.test('a link that two show at once opens one session', async (t) => {
  const { redeem, link, rows, fail } = await failing(t)
  const secret = await link()
  let [opening, both] = [0, () => {}]
  const met = new Promise<void>((resolve) => (both = resolve))
  fail(async (verb, kind) => {
    if (verb === 'create' && kind === 'console-session' && ++opening === 2) both()
    if (kind === 'console-session' && verb === 'create') await met
    return false
  })
  const statuses = (await Promise.all([redeem(secret), redeem(secret)])).map(({ status }) => status)
  t.same(statuses.sort(), [201, 401])
  t.equal((await rows.list({ name: 'console-session', indexes: [] }, {})).rows.length, 1)
})
