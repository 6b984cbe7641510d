import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { linesOf, serveLines } from '../../../../adapters/local/mcp/json-rpc.ts'
import { type AnswerCall, RpcError } from '../../../../plugins/shared/dialects/mcp/rpc.ts'

const stage = (t: Test, answering: AnswerCall) => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ended = serveLines(input, output, answering)
  t.teardown(() => input.end())
  const lines = linesOf(output)
  return {
    input,
    output,
    ended,
    send: (...messages: readonly unknown[]) =>
      void input.write(messages.map((it) => `${typeof it === 'string' ? it : JSON.stringify(it)}\n`).join('')),
    next: async () => JSON.parse(String((await lines.next()).value)) as Record<string, unknown>,
  }
}

const call = (id: unknown, method = 'm', more: object = {}) => ({ jsonrpc: '2.0', id, method, ...more })

t.test('lines are whole, however they come, and have a bound', async (t) => {
  const bytes = Buffer.from('one\n\nzwölf\nmuch too long\nlast\nno end')
  for (const step of [1, 3, 1000]) {
    const parts = function* () {
      for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
    }
    const said: (string | null)[] = []
    for await (const line of linesOf(parts() as unknown as AsyncIterable<Buffer>, 8)) said.push(line && String(line))
    t.same(said, ['one', '', 'zwölf', null, 'last'], `${step} bytes at once`)
  }
})

t.test('what is no call is answered as the protocol says, and the next call is served', async (t) => {
  const it = stage(t, async ({ method }) => {
    if (method === 'odd') throw new RpcError(-32602, 'Odd', { uri: 'u' })
    if (method === 'broken') throw new Error('secret words')
    return { method }
  })
  const cases: readonly [sent: unknown, id: unknown, code: number][] = [
    ['{', null, -32700],
    ['\u0001', null, -32700],
    ['[]', null, -32600],
    ['7', null, -32600],
    [{ jsonrpc: '2.0', id: {}, method: 'm' }, null, -32600],
    [call(1, 'm', { params: [] }), 1, -32600],
    [call(2, 'odd'), 2, -32602],
    [call(3, 'broken'), 3, -32603],
  ]
  for (const [sent, id, code] of cases) {
    it.send(sent)
    t.match(await it.next(), { jsonrpc: '2.0', id, error: { code } }, JSON.stringify(sent))
  }
  it.send('', { jsonrpc: '2.0', id: 9, result: {} }, { jsonrpc: '2.0', method: 'unknown/notification' }, call('x'))
  t.same(await it.next(), { jsonrpc: '2.0', id: 'x', result: { method: 'm' } }, 'only the call is answered')
})

t.test('a cancelled call stops and is not answered; an id is taken once at a time; calls have a bound', async (t) => {
  const stopped: string[] = []
  const it = stage(t, async ({ method, signal }) => {
    if (method === 'quick') return {}
    await once(signal, 'abort')
    stopped.push(String((signal.reason as Error).message))
    return {}
  })
  it.send(call(1, 'slow'), call(1, 'slow'))
  t.match(await it.next(), { id: 1, error: { code: -32600 } })
  it.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, call(2, 'quick'))
  t.match(await it.next(), { id: 2, result: {} })
  t.same(stopped, ['The client cancelled the call'])
  it.send(...Array.from({ length: 33 }, (_, at) => call(at + 10, 'slow')))
  t.match(await it.next(), { id: 42, error: { message: 'Too many calls at once' } })
  it.input.end()
  await it.ended
  await setImmediate()
  t.equal(stopped.filter((it) => it === 'The client is gone').length, 32)
})

t.test('whoever does not read is not asked for more, and a broken pipe ends the service', async (t) => {
  let calls = 0
  const it = stage(t, async () => {
    calls++
    return { text: 'x'.repeat(64 * 1024) }
  })
  for (let id = 0; id < 200; id++) it.send(call(id))
  for (let turn = 0; turn < 300; turn++) await setImmediate()
  t.ok(calls < 200, 'reading stopped')
  it.output.destroy(new Error('EPIPE'))
  await it.ended
})
