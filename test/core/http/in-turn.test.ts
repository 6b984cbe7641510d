import { once } from 'node:events'
import { type RequestListener, createServer } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import t, { type Test } from 'tap'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { capped, showsKey } from '../../../core/http/connections.ts'
import { inTurn } from '../../../core/http/in-turn.ts'
import { fakeClock } from '../../fakes/clock.ts'
import { until } from '../../until.ts'

const one = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

/** A server of this listener, and how many heads it has read. */
const started = async (t: Test, listener: RequestListener, countsStrangers = false) => {
  // This clock stands still: no time passes in which more requests may begin.
  const clock = fakeClock()
  const take = inTurn(listener, clock)
  let heads = 0
  const server = createServer((request, response) => {
    heads++
    take(request, response)
  })
  if (countsStrangers) capped(server, { most: 10_000, keyless: 1_000, head: 15_000, chunks: 'own' }, [])
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const line = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', localAddress }).resume()
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }
  return { line, heads: () => heads, clock }
}

t.test('too many requests that are sent ahead end their connection, unread', async (t) => {
  const { line, heads } = await started(t, () => undefined)
  const socket = await line()
  socket.write(one.repeat(1_500))
  await once(socket, 'close')
  t.ok(heads() >= 34, `${heads()} heads`)
  t.ok(heads() <= 35, `${heads()} of 1,500 heads are read`)
})

t.test('what follows on an ended connection is no upgrade', async (t) => {
  const { line, heads } = await started(t, () => undefined)
  const socket = await line()
  socket.write(one.repeat(34) + 'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n' + one)
  await once(socket, 'close')
  t.equal(heads(), 34)
})

t.test('a turn of the loop begins one of all requests that were sent ahead', async (t) => {
  let [begun, ofThisTurn, most] = [0, 0, 0]
  const { line } = await started(t, (_, response) => {
    begun++
    most = Math.max(most, ++ofThisTurn)
    if (ofThisTurn === 1) setImmediate(() => (ofThisTurn = 0))
    response.end('here')
  })
  const sockets = await Promise.all([line(), line(), line()])
  for (const socket of sockets) socket.write(one.repeat(20))
  t.ok(await until(() => begun === 60), 'all are answered')
  // The first of each connection waits for nobody.
  t.ok(most <= sockets.length + 1, `${most} in one turn`)
})

for (const [who, isKnown] of [
  ['strangers', false],
  ['callers with a key', true],
] as const)
  t.test(`a turn of the loop begins few of the requests that ${who} send together`, async (t) => {
    let [begun, ofThisTurn, most] = [0, 0, 0]
    const { line, clock } = await started(
      t,
      (request, response) => {
        begun++
        if (isKnown) showsKey(request)
        most = Math.max(most, ++ofThisTurn)
        if (ofThisTurn === 1) setImmediate(() => (ofThisTurn = 0))
        response.end('here')
      },
      true,
    )
    const sockets = await Promise.all(Array.from({ length: 200 }, () => line()))
    const sendsAll = async (): Promise<number> => {
      ;[begun, most] = [0, 0]
      for (const socket of sockets) socket.write(one)
      t.ok(await until(() => begun === 200), 'all are answered')
      return most
    }
    // One more has waited for its turn. With the first requests come the keys.
    t.ok((await sendsAll()) <= 9, `${most} in one turn`)
    if (!isKnown) {
      clock.set(-60_000)
      await sendsAll()
      return t.ok(most >= 8, 'and begin together again when the clock was set back')
    }
    t.ok((await sendsAll()) <= 65, `${most} in one turn`)
    t.ok(most > 9, 'they wait for no stranger')
  })

t.test('requests that wait behind others are bounded for each address', async (t) => {
  const { line, heads } = await started(t, () => undefined)
  const sockets = await Promise.all(Array.from({ length: 50 }, () => line()))
  let ended = 0
  for (const socket of sockets) socket.once('close', () => ended++).write(one.repeat(32))
  // Of each connection 31 requests wait.
  t.ok(await until(() => ended === 17), `${ended} connections ended`)
  t.ok(heads() <= 33 * 32 + 17 * 3, `${heads()} heads are read`)
  const comes = async (socket: Socket, why: string) => {
    const before = heads()
    socket.write(one.repeat(32))
    t.ok(await until(() => heads() === before + 32), why)
  }
  await comes(await line('127.0.0.2'), 'another address has room')
  for (const socket of sockets) socket.destroy()
  t.ok(await until(() => ended === 50))
  await comes(await line(), 'what has gone makes room')
})

t.test('a request whose connection has gone is not begun', async (t) => {
  let begun = 0
  const { line } = await started(t, (request, response) => {
    begun++
    response.end('here')
    // The next request has its turn before the connection has gone.
    response.once('finish', () => queueMicrotask(() => request.socket.destroy()))
  })
  const socket = await line()
  socket.write(one.repeat(3))
  await once(socket, 'close')
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(begun, 1)
})

t.test('a long answer does not wait behind requests that were sent ahead', async (t) => {
  let begun = 0
  const { line } = await started(t, (_, response) => {
    begun++
    response.end('here')
  })
  const sockets = await Promise.all(Array.from({ length: 30 }, () => line()))
  for (const socket of sockets) socket.write(one.repeat(20))
  t.ok(await until(() => begun > 60))
  const before = begun
  for (let piece = 0; piece < 10; piece++) await freeTurn()
  t.ok(begun - before <= 40, `${begun - before} requests begin beside ten pieces`)
  t.ok(await until(() => begun === 600))
})
