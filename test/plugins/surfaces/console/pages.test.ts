import t from 'tap'
import type { Key, Usage } from '../../../../plugins/surfaces/console/browser/answers.ts'
import { type Gateway, Refused } from '../../../../plugins/surfaces/console/browser/gateway.ts'
import { rotateKey } from '../../../../plugins/surfaces/console/browser/key-acts.ts'
import { wordList, wordsText } from '../../../../plugins/surfaces/console/browser/key-limits.ts'
import { liveFeed } from '../../../../plugins/surfaces/console/browser/live-feed.ts'
import { heldBy } from '../../../../plugins/surfaces/console/browser/login.ts'
import { reading } from '../../../../plugins/surfaces/console/browser/page.ts'
import { modelsOf } from '../../../../plugins/surfaces/console/browser/sight.ts'
import { daysBetween, sumOf } from '../../../../plugins/surfaces/console/browser/sums.ts'
import { hoursOf } from '../../../../plugins/surfaces/console/browser/pages/usage.ts'
import { sumsTable } from '../../../../plugins/surfaces/console/browser/usage-table.ts'
import { quietClock } from '../../../slowness.ts'

const none = () => Promise.reject(new Error('The gateway is not asked for this'))
const unasked: Gateway = {
  ...{ base: '', ask: none, read: none, post: none, text: none, raw: none },
  async *sent() {},
  async *events() {},
}

/** Answers what is asked, by its method. */
const answering = (answers: Readonly<Record<string, object>>): Gateway => ({
  ...unasked,
  ask: async <T>(method: string) => answers[method] as T,
})

t.test('pages of the feed that follow each other share a stream, which ends behind the last', async (t) => {
  const [list, one] = [new AbortController(), new AbortController()]
  const running = { id: 'r1', ms: null }
  let streams = 0
  const gateway: Gateway = {
    ...unasked,
    async *events(_path, _body, until) {
      streams++
      yield { event: 'requests', data: JSON.stringify({ requests: [running], passed: 0, processes: 1 }) }
      list.abort()
      void liveFeed.listen(gateway, '/admin/live', one.signal)
      await Promise.resolve()
      t.equal(until?.aborted, false, 'the stream goes on behind the first page')
      t.same(liveFeed.rows(), [running], 'its end can still be seen')
      one.abort()
      await Promise.resolve()
      t.equal(until?.aborted, true)
    },
  }
  t.teardown(() => liveFeed.forget())
  await liveFeed.listen(gateway, '/admin/live', list.signal)
  t.same([streams, liveFeed.state(), liveFeed.rows()], [1, 'Not listening', [{ ...running, lost: true }]])
})

t.test('a reading that fails is told until one succeeds, and the end of the session leaves the page', async (t) => {
  const told = { textContent: '' } as HTMLElement
  const left: Error[] = []
  const leaving = new AbortController()
  const view = { signal: leaving.signal, leave: (why: Error) => void left.push(why) }
  const away = new Refused(503, 'Away')
  const over = new Refused(401, 'Over')
  const read = (work: Promise<void>) => reading(view, told, () => work)()
  await read(Promise.reject(away))
  t.same([told.textContent, left], ['The last refresh failed', []])
  await read(Promise.resolve())
  t.equal(told.textContent, '')
  await read(Promise.reject(over))
  t.same(left, [over])
  leaving.abort()
  await read(Promise.reject(over))
  t.equal(left.length, 1, 'a page that is left leaves nothing')
})

t.test('a session whose end lies before the clock of the reader has an unknown end', async (t) => {
  const lent = (expires_at: number) => heldBy(answering({ POST: { credential: 'sk_console_1', expires_at } }))
  const [later, before] = [Date.now() + 60_000, Date.now() - 60_000]
  t.equal((await lent(later)).until, later)
  t.equal((await lent(before)).until, null)
})

t.test('a key that was rotated comes back with its new version', async (t) => {
  const old = { id: 'key_1', version: 3, team: null, expires_at: null, revoked_at: null } as Key
  const ended = { ...old, version: 4, expires_at: 5 }
  const gateway = answering({ GET: old, POST: { ...old, id: 'key_2' }, PATCH: ended })
  t.match(await rotateKey(gateway, old, 5, 0), { made: { id: 'key_2' }, old: ended, fault: null })
})

t.test('names with spaces stay while the reader leaves their list alone', (t) => {
  const fields = new FormData()
  const before = ['a model', 'other']
  fields.set('models', wordsText(before))
  t.equal(wordList(fields, 'models', before), before)
  t.same(wordList(fields, 'models', ['a']), before, 'quotes hold a name together')
  fields.set('models', '')
  t.same(wordList(fields, 'models', []), [], 'a key of no model stays one')
  t.equal(wordList(fields, 'models', ['a']), null)
  t.end()
})

t.test('a long span shows its last days', (t) => {
  const days = daysBetween('2028-01-01', '2030-01-01')
  t.same([days.length, days[0], days.at(-1)], [400, '2028-11-28', '2030-01-01'])
  t.end()
})

t.test('an hour without any price has no cost', (t) => {
  const slot = (unpriced: number, cost: number) =>
    ({ at: 0, requests: 2, input: 0, output: 0, unpriced, cost }) as Parameters<typeof hoursOf>[0]['slots'][number]
  const slots = [slot(1, 0), slot(2, 0), slot(1, 0.5), slot(0, 0.25), slot(0, 0)]
  t.same(
    hoursOf({ slots }).map(({ unpriced, cost }) => [unpriced, cost]),
    [
      [3, null],
      [1, 0.75],
      [0, 0],
    ],
  )
  t.end()
})

t.test('keys are ordered by the names that are shown, and their CSV has the ids too', (t) => {
  const sum = sumOf([] as Usage[])
  const parts = { title: '', file: '', by: 'Key', curl: '', rows: [{ name: 'key_1', sum }] }
  const { columns } = sumsTable({ ...parts, named: () => 'of the shop' })
  t.same(
    columns.slice(0, 2).map(({ head, value }) => [head, value(parts.rows[0]!)]),
    [
      ['Key', 'of the shop'],
      ['Id', 'key_1'],
    ],
  )
  t.equal(sumsTable(parts).columns[0]?.value(parts.rows[0]!), 'key_1')
  t.end()
})

t.test('twenty thousand models of a gateway do not stop the page', async (t) => {
  const data = Array.from({ length: 20_000 }, (_, at) => ({ id: `model-${at}` }))
  const links = { openai: '/v1', standard: '/std', confidential: '/models', decisions: '/compat/v1/decision' }
  const gateway: Gateway = {
    ...unasked,
    read: async <T>(path: string) => (path === '/models' ? { models: data.slice(0, 1) } : { data }) as T,
  }
  const ms = quietClock()
  const listed = await modelsOf(gateway, { links })
  t.ok(ms() < 1_000)
  t.same(
    [
      listed.length,
      listed.filter(({ sealed }) => sealed).length,
      listed.every(({ clear, decides }) => clear && decides),
    ],
    [20_000, 1, true],
  )
})
