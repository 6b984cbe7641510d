import t from 'tap'
import { BadRequest, Forbidden, type GatewayError, NotFound, TooMany, Unavailable, Unauthorized, UpstreamFailed } from '../../../core/errors.ts' // prettier-ignore
import { retryHeaders } from '../../../core/http/http-errors.ts'

const drawn = [0, 0.25, 0.5, 0.75, 0.999]

t.test('nobody is told to come before the time', async (t) => {
  for (const retryAfter of [1, 300, 1_000, 1_200, 7_000, 60_000, 3_600_000])
    for (const fraction of drawn) {
      const told = retryHeaders(new TooMany('', { retryAfter }), fraction)
      t.ok(Number(told['retry-after']) * 1_000 >= retryAfter)
      t.ok(Number(told['retry-after-ms']) >= retryAfter)
      t.ok(Number(told['retry-after-ms']) <= 2 * retryAfter + 250, 'nor much later')
      t.equal(told['x-should-retry'], undefined)
    }
})

t.test('callers that wait at once are told different times, in both headers', async (t) => {
  for (const retryAfter of [20, 1_000, 60_000]) {
    const all = drawn.map((fraction) => retryHeaders(new TooMany('', { retryAfter }), fraction))
    t.equal(new Set(all.map((record) => record['retry-after-ms'])).size, drawn.length)
    t.ok(new Set(all.map((record) => record['retry-after'])).size > 1)
  }
  const queued = drawn.map((fraction) => retryHeaders(new TooMany('', { retryAfter: 1_500, apart: true }), fraction))
  for (const told of queued) t.same(told, { 'retry-after': '2', 'retry-after-ms': '1500' }, 'a queue told them apart already') // prettier-ignore
})

t.test('clients that try again by themselves are told where that is in vain', async (t) => {
  const hopeless = (error: GatewayError) => retryHeaders(error, 0)['x-should-retry'] === 'false'
  for (const error of [
    new BadRequest('no'),
    new Unauthorized(),
    new Forbidden(),
    new NotFound(),
    new UpstreamFailed(undefined, { again: true, answered: 404, retryAfter: 5 }),
    new TooMany('larger than its allowance'),
    new Unavailable('read before', { retryAfter: null }),
  ])
    t.ok(hopeless(error), error.name)
  for (const error of [
    new Unavailable(),
    new TooMany('', { retryAfter: 5 }),
    new UpstreamFailed(undefined, { again: true, answered: 529, retryAfter: 5 }),
  ])
    t.notOk(hopeless(error), error.name)
})
