import { once } from 'node:events'
import { type RequestListener, createServer } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import t, { type Test } from 'tap'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { inTurn } from '../../../core/http/in-turn.ts'
import { until } from '../../until.ts'

const one = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

/** A server of this listener, and how many heads it has read. */
const started = async (t: Test, listener: RequestListener) => {
  const take = inTurn(listener)
  let heads = 0
  const server = createServer((request, response) => {
    heads++
    take(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const line = async (): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume()
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }
  return { line, heads: () => heads }
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
  const sockets = await Promise.all(Array.from({ length: 30 }, line))
  for (const socket of sockets) socket.write(one.repeat(20))
  t.ok(await until(() => begun > 60))
  const before = begun
  for (let piece = 0; piece < 10; piece++) await freeTurn()
  t.ok(begun - before <= 40, `${begun - before} requests begin beside ten pieces`)
  t.ok(await until(() => begun === 600))
})
