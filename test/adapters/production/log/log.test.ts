import t, { type Test } from 'tap'
import { writeLog } from '../../../../adapters/production/log/log.ts'

/** A log whose time is turned by hand, and the lines that it wrote since the last look. */
const opened = (t: Test) => {
  let now = 0
  let timers: { readonly at: number; readonly ring: () => void }[] = []
  const setTimer = (ring: () => void, ms: number) => {
    const timer = { at: now + ms, ring, unref: () => timer }
    timers.push(timer)
    return timer
  }
  t.intercept(globalThis, 'setTimeout', { value: setTimer })
  t.intercept(globalThis, 'clearTimeout', {
    value: (timer: object) => (timers = timers.filter((one) => one !== timer)),
  })
  const pass = (ms: number) => {
    now += ms
    const due = timers.filter(({ at }) => at <= now)
    timers = timers.filter(({ at }) => at > now)
    for (const { ring } of due) ring()
  }
  let lines: string[] = []
  const log = writeLog('info', { write: (line) => void lines.push(line), flushSync() {} })
  const written = () => lines.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>)
  return { log, written, pass }
}

const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })

t.test(
  'a store that is away for a minute makes a line in ten seconds, and none of its faults goes uncounted',
  async (t) => {
    const { log, written, pass } = opened(t)
    const lines: Record<string, unknown>[] = []
    for (let n = 0; n < 6_000; n++) {
      log.error('fault', { request: `r${n}`, route: 'GET /v1/models', status: 503 }, away)
      pass(10)
    }
    lines.push(...written())
    t.ok(lines.length < 10, `${lines.length} lines`)
    t.match(lines[0], { request: 'r0', cause: [{ code: 'ECONNREFUSED' }], more: undefined }, 'the first at once')
    pass(20_000)
    lines.push(...written())
    t.equal(lines.at(-1)!['request'], 'r5999', 'the last one has a line')
    t.equal(
      lines.reduce((sum, { more = 0 }) => sum + 1 + Number(more), 0),
      6_000,
    )
    log.error('fault', { request: 'later', route: 'GET /v1/models', status: 503 }, away)
    t.match(written(), [{ request: 'later' }], 'a later outage begins anew')
  },
)

t.test('errors that differ by more than their request have a line each', async (t) => {
  const { log, written } = opened(t)
  const fault = (status: number, code: string, route = 'GET /v1/models') =>
    log.error('fault', { request: `${status}`, route, status }, Object.assign(new Error('no'), { code }))
  for (const code of ['a', 'b']) for (const status of [500, 503]) fault(status, code)
  for (const code of ['a', 'b']) fault(503, code, 'GET /admin/keys')
  t.equal(written().length, 6)
  for (let n = 0; n < 1_000; n++) log.error('lost', { rows: n })
  t.equal(written().length, 1_000, 'also beyond a hundred sorts')
  log.warn('slow')
  log.warn('slow')
  t.equal(written().length, 2, 'a warning is no error')
})

t.test('a log that closes leaves no error behind, and writes nothing more', async (t) => {
  const { log, written, pass } = opened(t)
  for (const request of ['a', 'b', 'c']) log.error('fault', { request }, away)
  t.equal(written().length, 1)
  await log.dispose!()
  t.match(written(), [{ request: 'c', more: 1 }])
  pass(60_000)
  t.same(written(), [])
})
