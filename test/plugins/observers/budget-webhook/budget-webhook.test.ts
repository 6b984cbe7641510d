import { createHmac, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { SettingsShape } from '../../../../core/settings.ts'
import { system } from '../../../../adapters/memory/platform.ts'
import { fetch } from '../../../../adapters/production/platform.ts'
import { Observer, type ReachedShare } from '../../../../core/ports/observer.ts'
import { budgetWebhook } from '../../../../plugins/observers/budget-webhook/budget-webhook.ts'
import { Lifecycle } from '../../../../core/lifecycle.ts'
import { use } from '../../../../core/plugin.ts'
import { Clock, Log, type LogFacts, Random } from '../../../../core/ports/platform.ts'
import { fakeClock, settled } from '../../../fakes/clock.ts'
import { type Asked, recorded, type Take } from '../../../fakes/recorded.ts'
import { fitted, given } from '../../../fitted.ts'
import { until } from '../../../until.ts'

const secret = `whsec_${randomBytes(32).toString('base64')}`

const shareOf = (name: string, ends: number | null = Date.UTC(2030, 1, 1)): ReachedShare => ({
  ...{ of: 'organization', whose: 'acme', period: 'day', name },
  ...(ends !== null && { until: ends }),
  percent: 80,
  at: Date.UTC(2030, 0, 31, 12),
})

const settingsOf = (webhook: object) => v.parse(SettingsShape, { limits: { budgets: { webhook } } })

const house = async (t: Test, play: (request: Asked, at: string) => Take, isAllowed = true) => {
  const receiver = await recorded((request) => play(request, receiver.url))
  t.teardown(() => receiver.close())
  const logged: { readonly event: string; readonly facts: LogFacts }[] = []
  const note = (event: string, facts: LogFacts = {}) => void logged.push({ event, facts })
  const clock = fakeClock(Date.UTC(2030, 0, 31, 12))
  const closing = new AbortController()
  t.teardown(() => closing.abort())
  const lifecycle: Lifecycle = { draining: closing.signal, held: 0, closing: closing.signal }
  const outside = { allow: isAllowed ? ['127.0.0.1'] : [], ports: [Number(new URL(receiver.url).port)] }
  const {
    observers: [observer],
  } = fitted(
    use(budgetWebhook),
    use(fetch, { outside }),
    given(Random, 'random', () => ({ ...system.random, fraction: () => 0 })),
    given(Clock, 'clock', () => clock),
    given(Log, 'log', () => ({ info: note, warn: note, error: note })),
    given(Lifecycle, 'lifecycle', () => lifecycle),
  ).supply({ observers: Observer })
  return {
    clock,
    logged,
    asked: receiver.asked,
    closing,
    tell: (share = shareOf('one')) => observer?.reached?.(share, settingsOf({ url: `${receiver.url}/hook`, secret })),
    /** Waits for so many lines of the log. */
    lines: (count: number) => until(() => logged.length >= count),
  }
}

/** Whether the bytes, the id and the time are signed with the secret. */
const isSigned = ({ headers, body }: Asked): boolean => {
  const text = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body.toString()}`
  const key = Buffer.from(secret.slice(6), 'base64')
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(text).digest('base64')}`
}

t.test('a share is told, signed with its id and time', async (t) => {
  const { tell, lines, asked: requests, logged } = await house(t, () => ({ status: 204, body: '' }))
  tell()
  t.ok(await lines(1))
  const [first] = requests
  t.match(first, { method: 'POST', path: '/hook', headers: { 'content-type': 'application/json' } })
  t.ok(first && isSigned(first))
  t.equal(first?.headers['webhook-timestamp'], String(Date.UTC(2030, 0, 31, 12) / 1000))
  t.same(JSON.parse(String(first?.body)), {
    type: 'budget.share',
    timestamp: '2030-01-31T12:00:00.000Z',
    data: { of: 'organization', whose: 'acme', period: 'day', percent: 80, ends: '2030-02-01T00:00:00.000Z' },
  })
  t.match(logged, [{ event: 'webhook.delivered', facts: { id: /^budget_[0-9a-f]{32}$/, tries: 1 } }])
  t.notMatch(JSON.stringify(logged), /acme|whsec|127/)
  for (const share of [
    shareOf('one'),
    { ...shareOf('one'), at: 0 },
    shareOf('two'),
    { ...shareOf('one'), percent: 50 },
  ])
    tell(share)
  tell({ ...shareOf('one', null), at: 1 })
  tell({ ...shareOf('one', null), at: 2 })
  t.ok(await lines(7))
  const ids = requests.map(({ headers }) => headers['webhook-id'])
  t.equal(new Set(ids).size, 5, 'one id for a share of a window, whenever it is told')
})

t.test('a receiver that fails is tried again with the same id, and in the end no more', async (t) => {
  const answers = [500, 404, 301, 429, 200, 503]
  const {
    tell,
    lines,
    asked: requests,
    logged,
    clock,
  } = await house(t, ({ path }, at) => {
    if (path !== '/hook') return { body: 'a page for everybody' }
    const status = answers.shift() ?? 200
    if (status === 200) return { status: 302, headers: { location: `${at}/login` }, body: '' }
    return { status, body: 'no' }
  })
  tell()
  for (const [i, pause] of [5_000, 30_000, 120_000, 600_000, 3_600_000].entries()) {
    t.ok(await lines(i + 1))
    await settled()
    await clock.pass(pause)
  }
  t.ok(await lines(6))
  await clock.pass(24 * 3_600_000)
  const hooks = requests.filter(({ path }) => path === '/hook')
  t.equal(hooks.length, 6)
  t.ok(hooks.every(isSigned))
  t.equal(new Set(hooks.map(({ headers }) => headers['webhook-id'])).size, 1)
  t.equal(new Set(hooks.map(({ headers }) => headers['webhook-timestamp'])).size, 6)
  t.same(
    logged.map(({ event, facts: { status, again } }) => [event, status, again]),
    [500, 404, 301, 429, 302, 503].map((status, i) => ['webhook.failed', status, i < 5]),
  )
})

t.test('a receiver that comes back gets what it missed', async (t) => {
  const {
    tell,
    lines,
    asked: requests,
    logged,
    clock,
  } = await house(t, () => (requests.length === 1 ? { status: 500, body: '' } : { body: 'ok' }))
  tell()
  t.ok(await lines(1))
  await settled()
  await clock.pass(5_000)
  t.ok(await lines(2))
  t.match(logged[1], { event: 'webhook.delivered', facts: { tries: 2 } })
  t.equal(clock.armed(), 0)
})

t.test('a slow receiver holds nobody up, and is tried again after ten seconds', async (t) => {
  const { tell, asked: requests, logged, lines, clock } = await house(t, () => ({ body: '', pace: 'silent' }))
  for (let i = 0; i < 101; i++) tell(shareOf(`budget ${i}`))
  t.match(logged, [{ event: 'webhook.lost' }], 'a hundred wait, and one more is lost')
  t.ok(await until(() => requests.length === 4))
  await settled()
  t.equal(requests.length, 4, 'four at once')
  await clock.pass(10_000)
  t.ok(await lines(5))
  t.match(logged[1], { event: 'webhook.failed', facts: { status: null, again: true, tries: 1 } })
})

t.test('a private receiver is never reached, and never tried again', async (t) => {
  const { tell, asked: requests, logged, lines, clock } = await house(t, () => ({ body: '' }), false)
  tell()
  t.ok(await lines(1))
  t.match(logged, [{ event: 'webhook.failed', facts: { status: null, again: false, tries: 1 } }])
  await clock.pass(3_600_000)
  t.equal(requests.length, 0)
})

t.test('a receiver that is gone for good is believed', async (t) => {
  const { tell, logged, lines, clock } = await house(t, () => ({ status: 410, body: '' }))
  tell()
  t.ok(await lines(1))
  t.match(logged, [{ facts: { status: 410, again: false } }])
  t.equal(clock.armed(), 0)
})

t.test('the end of the gateway ends the waiting, and the log says what was lost', async (t) => {
  const { tell, logged, lines, clock, closing } = await house(t, () => ({ status: 500, body: '' }))
  tell()
  t.ok(await lines(1))
  await settled()
  closing.abort()
  t.ok(await lines(2))
  t.match(logged[1], { event: 'webhook.lost' })
  t.equal(clock.armed(), 0)
})
