import t, { type Test } from 'tap'
import { Unavailable } from '../../../../core/errors.ts'
import { things } from '../../../../plugins/surfaces/batches/rows.ts'
import { batchHouse } from '../../../fakes/batch-house.ts'
import { failed } from '../../../helpers.ts'
import { until } from '../../../until.ts'

const line = JSON.stringify({
  ...{ custom_id: 'one', method: 'POST', url: '/v1/chat/completions' },
  body: { model: 'talk', messages: [{ role: 'user', content: 'Hi' }] },
})
const params = { model: 'claude', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hi' }] }

/** A gateway whose row store takes no more of what vendors make, and all ways to have something made. */
const storeless = async (t: Test) => {
  const house = await batchHouse(t)
  const upload = () => house.client.files.create({ file: new File([line], 'in.jsonl'), purpose: 'batch' })
  const { id } = await upload()
  const rows = house.rows() as { create: (...args: readonly any[]) => Promise<boolean> }
  const { create } = rows
  rows.create = async (...args) => {
    if (args[0] === things) throw new Unavailable()
    return create(...args)
  }
  const body = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const
  const ways = [
    upload,
    () => house.client.batches.create(body),
    () => house.claude.messages.batches.create({ requests: [{ custom_id: 'one', params }] }),
  ]
  return {
    ...house,
    ways,
    left: () => house.logged.filter(({ event }) => event === 'batches.left').map(({ facts }) => facts),
  }
}

t.test('what a vendor made is ended there when the row store fails to keep its owner', async (t) => {
  const { vendor, ways, left } = await storeless(t)
  vendor.asked.length = 0
  for (const way of ways) t.match(await failed(way()), { message: /Service temporarily unavailable/ })
  t.same(vendor.asked, [
    ...['POST /v1/files', 'DELETE /v1/files/file-2'],
    ...['POST /v1/batches', 'POST /v1/batches/batch_3/cancel'],
    ...['POST /v1/messages/batches', 'POST /v1/messages/batches/msgbatch_4/cancel'],
  ])
  t.same(left(), [])
})

t.test(
  'the log tells what is left at a vendor that ends nothing, and the caller learns of the row store',
  async (t) => {
    const { vendor, ways, left } = await storeless(t)
    vendor.instead = ({ url, method }, response) => {
      const isUndo = method === 'DELETE' || url!.endsWith('/cancel')
      if (isUndo) response.writeHead(401).end('{"error":{"message":"No"}}')
      return isUndo
    }
    for (const way of ways) t.match(await failed(way()), { message: /Service temporarily unavailable/ })
    t.same(left(), [
      { path: '/files/file-2' },
      { path: '/batches/batch_3/cancel' },
      { path: '/v1/messages/batches/msgbatch_4/cancel' },
    ])
  },
)

t.test('an id that another owner has is ended for nobody', async (t) => {
  const house = await batchHouse(t)
  house.vendor.instead = (request, response) => {
    if (request.method === 'POST') request.resume().on('end', () => response.end('{"id":"file-1"}'))
    return request.method === 'POST'
  }
  const upload = (client: typeof house.client) =>
    client.files.create({ file: new File([line], 'in.jsonl'), purpose: 'batch' })
  await upload(house.client)
  t.match(await failed(upload(house.clientOf(await house.owner('other')))), { status: 503 })
  t.notMatch(house.vendor.asked.join(), 'DELETE')
})

t.test('what a vendor made for a caller who has left has its owner', async (t) => {
  const house = await batchHouse(t)
  const file = () => new File([line], 'in.jsonl')
  const { id } = await house.client.files.create({ file: file(), purpose: 'batch' })
  const body = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const
  const requests = [{ custom_id: 'one', params }]
  const ways: readonly (readonly [string, (signal: AbortSignal) => Promise<unknown>])[] = [
    ['file-late', (signal) => house.client.files.create({ file: file(), purpose: 'batch' }, { signal })],
    ['batch_late', (signal) => house.client.batches.create(body, { signal })],
    ['msgbatch_late', (signal) => house.claude.messages.batches.create({ requests }, { signal })],
  ]
  for (const [late, way] of ways) {
    const leaving = new AbortController()
    let answer: (() => void) | null = null
    house.vendor.instead = (request, response) => {
      request.resume().on('end', () => (answer = () => response.end(JSON.stringify({ id: late }))))
      return true
    }
    const asking = failed(way(leaving.signal))
    await until(() => answer !== null)
    leaving.abort()
    t.match(await asking, { message: /abort/ })
    // The gateway has seen the end of the connection by then.
    await until(() => house.logged.some(({ facts }) => facts['status'] === 499), 2_000)
    answer!()
    t.ok(await until(async () => (await house.rows().get(things, late)) !== null), late)
    house.logged.length = 0
  }
})
