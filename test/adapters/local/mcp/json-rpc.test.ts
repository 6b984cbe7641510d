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
      void input.write(
        messages.map((message) => `${typeof message === 'string' ? message : JSON.stringify(message)}\n`).join(''),
      ),
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
    const texts: (string | null)[] = []
    for await (const line of linesOf(parts() as unknown as AsyncIterable<Buffer>, 8)) texts.push(line && String(line))
    t.same(texts, ['one', '', 'zwölf', null, 'last'], `${step} bytes at once`)
  }
})

t.test('what is no call is answered as the protocol says, and the next call is served', async (t) => {
  const scene = stage(t, async ({ method }) => {
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
    scene.send(sent)
    t.match(await scene.next(), { jsonrpc: '2.0', id, error: { code } }, JSON.stringify(sent))
  }
  scene.send('', { jsonrpc: '2.0', id: 9, result: {} }, { jsonrpc: '2.0', method: 'unknown/notification' }, call('x'))
  t.same(await scene.next(), { jsonrpc: '2.0', id: 'x', result: { method: 'm' } }, 'only the call is answered')
})

t.test('a cancelled call stops and is not answered; an id is taken once at a time; calls have a bound', async (t) => {
  const stopped: string[] = []
  const scene = stage(t, async ({ method, signal }) => {
    if (method === 'quick') return {}
    await once(signal, 'abort')
    stopped.push(String((signal.reason as Error).message))
    return {}
  })
  scene.send(call(1, 'slow'), call(1, 'slow'))
  t.match(await scene.next(), { id: 1, error: { code: -32600 } })
  scene.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, call(2, 'quick'))
  t.match(await scene.next(), { id: 2, result: {} })
  t.same(stopped, ['The client cancelled the call'])
  scene.send(...Array.from({ length: 33 }, (_, at) => call(at + 10, 'slow')))
  t.match(await scene.next(), { id: 42, error: { message: 'Too many calls at once' } })
  scene.input.end()
  await scene.ended
  await setImmediate()
  t.equal(stopped.filter((text) => text === 'The client is gone').length, 32)
})

t.test('whoever does not read is not asked for more, and a broken pipe ends the service', async (t) => {
  let calls = 0
  const scene = stage(t, async () => {
    calls++
    return { text: 'x'.repeat(64 * 1024) }
  })
  for (let id = 0; id < 200; id++) scene.send(call(id))
  for (let turn = 0; turn < 300; turn++) await setImmediate()
  t.ok(calls < 200, 'reading stopped')
  scene.output.destroy(new Error('EPIPE'))
  await scene.ended
})
