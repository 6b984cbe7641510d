import { once } from 'node:events'
import { type IncomingMessage, type RequestListener, createServer } from 'node:http'
import { type Socket, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { fromConfig } from '../../../../adapters/production/index.ts'
import { parseInPieces } from '../../../../adapters/production/network/parse-in-pieces.ts'
import { createGateway } from '../../../../core/gateway.ts'
import { listening } from '../../../fakes/listening.ts'

const head = 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n'
const tiny = (bytes: string): string => [...bytes].map((one) => `1\r\n${one}\r\n`).join('')
const letters = (count: number): string => Array.from({ length: count }, (_, at) => String(at % 10)).join('')

const opened = async (t: Test, listener: RequestListener) => {
  const server = createServer(listener)
  parseInPieces(server)
  const { port } = await listening(t, server, '127.0.0.1')
  const call = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  /** What one connection is answered to all that it sends, once the server has ended it. */
  const answered = async (...parts: readonly string[]): Promise<string> => {
    const socket = await call()
    for (const part of parts) socket.write(part)
    return text(socket)
  }
  return { server, call, answered }
}

const closing = (request: IncomingMessage): Promise<string> => text(request)
const echo: RequestListener = (request, response) => {
  response.setHeader('connection', 'close')
  void closing(request).then((body) => response.end(`[${body}]`))
}
/** More chunks than a calm gateway takes in one turn. */
const attack = (): string => `${head}${tiny(letters(5_000))}0\r\n\r\n`

t.test('a body of tiny chunks comes whole and in its order, before and in pieces', async (t) => {
  const { answered } = await opened(t, echo)
  for (let time = 0; time < 2; time++) t.match(await answered(attack()), `[${letters(5_000)}]`)
  const long = 'a'.repeat(300_000)
  t.match(await answered(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${long.length}\r\n\r\n${long}`), `[${long}]`)
})

/** Hears chunks, and tells how many came in each turn of the loop that brought some since that was asked last. */
const hearing = (t: Test) => {
  let turns: number[] = []
  let [now, isOver] = [0, false]
  const turn = () => {
    if (now > 0) turns.push(now)
    now = 0
    if (!isOver) setImmediate(turn)
  }
  turn()
  t.teardown(() => void (isOver = true))
  const listener: RequestListener = (request, response) => {
    request.on('data', () => void now++)
    request.on('end', () => setImmediate(() => response.end('heard')))
  }
  const told = () => {
    const before = turns
    turns = []
    return { most: Math.max(...before), turns: before.length }
  }
  return { listener, told }
}

t.test('a turn of the loop parses a piece of all connections together, and one of each new part', async (t) => {
  const { listener, told } = hearing(t)
  const { call } = await opened(t, listener)
  const sockets = await Promise.all(Array.from({ length: 5 }, call))
  const heard = async (those: readonly Socket[]) => {
    for (const socket of those) socket.write(attack())
    await Promise.all(those.map((socket) => once(socket, 'data')))
    return told()
  }
  const calm = await heard(sockets.slice(0, 1))
  t.ok(calm.most > 1_000, `${calm.most} chunks in a turn of a calm gateway`)
  const open = await heard(sockets.slice(1))
  t.ok(open.most <= 170 * 5, `${open.most} chunks in a turn of four connections that were open before`)
  t.ok(open.turns >= 80, `${open.turns} turns for 118 pieces`)
  const fresh = await heard([await call()])
  t.ok(fresh.most <= 2 * 170, `${fresh.most} chunks in a turn of a new connection`)
})

t.test('what comes behind the head of an upgrade keeps its order', async (t) => {
  const { server, call, answered } = await opened(t, echo)
  await answered(attack())
  const handed = new Promise<Socket>((resolve) =>
    server.on('upgrade', (_request, socket: Socket, head: Buffer) => {
      socket.unshift(head)
      resolve(socket)
    }),
  )
  const socket = await call()
  const behind = letters(5_000)
  const more = 'a'.repeat(900)
  socket.end(`GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: a\r\nx: ${more}\r\n\r\n${behind}`)
  t.equal(await text(await handed), behind)
})

t.test('a reader that takes nothing holds its connection in pieces, too', async (t) => {
  const requests: IncomingMessage[] = []
  const { call } = await opened(t, (request) => void requests.push(request))
  const attacker = await call()
  attacker.write(attack())
  while (requests.length < 1) await new Promise(setImmediate)
  const socket = await call()
  const [chunk, count] = [letters(16_384), 640]
  socket.write(`${head}${`4000\r\n${chunk}\r\n`.repeat(count)}0\r\n\r\n`)
  for (let turns = 0; turns < 300; turns++) await new Promise(setImmediate)
  const [, request] = requests
  t.ok(request!.readableLength <= 2 * request!.readableHighWaterMark, `${request!.readableLength} bytes`)
  t.ok(socket.writableLength > 0, 'the sender waits')
  t.ok((await text(request!)) === chunk.repeat(count), 'the body is whole')
})

t.test('the server of a gateway that an embedder makes of a configuration parses so, too', async (t) => {
  const adapters = await fromConfig({ enclave: { connect: ['/nowhere'] } }, { env: {}, data: t.testdir() })
  const gateway = createGateway(adapters)
  t.teardown(() => gateway.close())
  const server = gateway.server()
  let most = 0
  server.on('request', (request) => {
    const push = request.push.bind(request)
    let chunks = 0
    request.push = (chunk) => {
      if (chunks++ === 0) setImmediate(() => (chunks = 0))
      most = Math.max(most, chunks)
      return push(chunk)
    }
  })
  const { port } = await listening(t, server, '127.0.0.1')
  const { credential } = await gateway.keys.create({})
  const sent = attack()
    .replace('POST / ', 'POST /v1/chat/completions ')
    .replace('a\r\n', `a\r\nx-api-key: ${credential}\r\n`)
  const mostOfAttack = async () => {
    most = 0
    const socket = connect(port, '127.0.0.1')
    socket.write(sent)
    await once(socket, 'data')
    socket.destroy()
    return most
  }
  t.ok((await mostOfAttack()) > 1_000, 'a calm gateway parses at once what it reads at once')
  t.ok((await mostOfAttack()) <= 171, `${most} chunks in one turn`)
})
