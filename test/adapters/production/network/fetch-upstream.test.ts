import { type Socket, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { openUpstream } from '../../../../adapters/production/network/fetch-upstream.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import type { Ask } from '../../../../core/ports/platform.ts'
import { listening } from '../../../fakes/listening.ts'

const answer = (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
const half = (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal')

/** A server that acts in turn on what comes on its connections, and the line to it. */
const house = async (t: Test, acts: readonly ((socket: Socket) => unknown)[]) => {
  const seen: { readonly method: string; readonly connection: number }[] = []
  let connections = 0
  const server = createServer((socket) => {
    const connection = connections++
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      const act = acts[seen.length] ?? answer
      seen.push({ method: bytes.toString('latin1').split(' ')[0] ?? '', connection })
      act(socket)
    })
  })
  const { port } = await listening(t, server, '127.0.0.1')
  const line = openUpstream()
  t.teardown(() => line.close())
  const ask = async (method: Ask['method'], more: Partial<Ask> = {}) => {
    const signal = AbortSignal.timeout(30_000)
    const { body } = await line.door(`http://127.0.0.1:${port}/`, { method, signal, ...more })
    const parts: Uint8Array[] = []
    for await (const part of body) parts.push(part)
    return Buffer.concat(parts).toString()
  }
  return { ask, seen }
}

const ends: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'is reset': (socket) => socket.resetAndDestroy(),
  'is closed': (socket) => socket.end(),
}

for (const [how, end] of Object.entries(ends)) {
  t.test(`a request that may be repeated is sent once more when a rested connection ${how}`, async (t) => {
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const { ask, seen } = await house(t, [answer, end, answer])
      const body = method === 'PUT' ? { body: 'bytes' } : {}
      t.equal(await ask(method, body), 'ok')
      t.equal(await ask(method, body), 'ok', `${method} is answered`)
      t.same(
        seen.map(({ connection }) => connection),
        [0, 0, 1],
        'on another connection',
      )
    }
  })

  t.test(`no request is sent a third time when its connection ${how}`, async (t) => {
    const { ask, seen } = await house(t, [end, end])
    await t.rejects(ask('GET'), UpstreamFailed)
    t.equal(seen.length, 2)
  })

  t.test(`a request that may not be repeated is sent once when its connection ${how}`, async (t) => {
    const { ask, seen } = await house(t, [answer, end])
    t.equal(await ask('POST', { body: 'a' }), 'ok')
    await t.rejects(ask('POST', { body: 'a' }), UpstreamFailed)
    t.equal(seen.length, 2)
    const stream = async function* () {
      yield Buffer.from('a')
    }
    const streamed = await house(t, [end])
    await t.rejects(streamed.ask('PUT', { stream: stream() }), UpstreamFailed)
    t.equal(streamed.seen.length, 1, 'nor is a body that comes as a stream')
  })
}

t.test('a request whose answer began is not repeated', async (t) => {
  const { ask, seen } = await house(t, [half])
  await t.rejects(ask('GET'), UpstreamFailed)
  t.equal(seen.length, 1)
})
