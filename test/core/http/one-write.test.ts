import '../../fakes/unwatched.ts'
import { once } from 'node:events'
import { type Server, createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { clock } from '../../../adapters/memory/platform.ts'
import { fetch } from '../../../adapters/production/platform.ts'
import { Flow } from '../../../core/ports/flow.ts'
import { unpack } from '../../../plugins/shared/unpack.ts'
import { createGateway } from '../../../core/gateway.ts'
import { use } from '../../../core/plugin.ts'
import vllm from '../../../plugins/providers/vllm.ts'

const portOf = (server: Server): number => (server.address() as AddressInfo).port

const listening = async (t: Test, server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return portOf(server)
}

const chunk = (content: string, finish_reason: string | null = null) =>
  JSON.stringify({
    id: 'a',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason }],
  })

/** A backend whose first event comes alone, and all others in one packet, each as a chunk of its own. */
const backend = (events: readonly string[]): Server =>
  createServer(async (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${events[0]}\n\n`)
    await sleep(50)
    response.socket?.cork()
    for (const event of events.slice(1)) response.write(`data: ${event}\n\n`)
    response.socket?.uncork()
    response.end()
  })

/** The chunks of the body that a streamed chat brings. */
const framesFrom = async (t: Test, ...backends: readonly Server[]): Promise<readonly string[]> => {
  const ports = await Promise.all(backends.map((backend) => listening(t, backend)))
  const gateway = createGateway(
    {
      ...memory(),
      clock: use(clock),
      fetch: use(fetch),
      upstreams: ports.map((port, nth) =>
        use({ ...vllm, name: `b${nth}` }, { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'none' }),
      ),
    },
    {
      models: {
        m: { continues: true, upstreams: ports.map((_, nth) => ({ provider: `b${nth}`, priority: nth + 1 })) },
      },
    },
  )
  t.teardown(() => gateway.close())
  const { credential } = await gateway.keys.create({})
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hello' }] })
  const socket = connect(await listening(t, gateway.server()), '127.0.0.1').setEncoding('latin1')
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${credential}\r\nconnection: close\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  let answer = ''
  for await (const part of socket) answer += part
  const frames: string[] = []
  let rest = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  for (;;) {
    const size = Number.parseInt(rest, 16)
    const begin = rest.indexOf('\r\n') + 2
    if (!(size > 0)) return frames
    frames.push(rest.slice(begin, begin + size))
    rest = rest.slice(begin + size + 2)
  }
}

t.test('what one read brought goes on in one write', async (t) => {
  const words = ['one', 'two', 'three', 'four', 'five'].map((word) => chunk(word))
  const [first = '', ...others] = await framesFrom(t, backend([...words, chunk('', 'stop'), '[DONE]']))
  t.match(first, '"one"')
  // The end of the stream is known a moment after its last event.
  t.ok(others.length <= 2, `${others.length} writes`)
  for (const word of ['two', 'three', 'four', 'five']) t.match(others[0], `"${word}"`)
})

t.test('events before a broken one of the same read still come, and then the fault', async (t) => {
  const [first = '', ...others] = await framesFrom(
    t,
    backend([chunk('one'), chunk('two'), '{"error":{"message":"full","code":400}}']),
  )
  t.match(first, '"one"')
  const rest = others.join('')
  t.ok(rest.indexOf('"two"') >= 0 && rest.indexOf('"two"') < rest.indexOf('"error"'))
  t.notMatch(rest, '[DONE]')
})

t.test('a rescue goes on behind all that one read brought', async (t) => {
  let asked = ''
  const second = createServer(async (request, response) => {
    for await (const part of request.setEncoding('utf8')) asked += part
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`data: ${chunk(' four', 'stop')}\n\ndata: [DONE]\n\n`)
  })
  const frames = await framesFrom(t, backend([chunk('one'), chunk(' two'), chunk(' three'), 'no JSON']), second)
  const { messages } = JSON.parse(asked) as { readonly messages: readonly unknown[] }
  t.match(messages.at(-1), { role: 'assistant', content: 'one two three' })
  t.match(frames.join(''), '[DONE]')
})

/** Reads that are there as soon as they are waited for. */
class Reads extends Flow<Uint8Array> {
  readonly #reads = ['a', 'bc', 'd!'].map((text) => Buffer.from(text))
  closed = 0
  ready = () => this.#reads.shift() ?? null
  ended = () => null
  wait = (go: () => void) => go()
  leave = () => void this.closed++
}

t.test('pieces that were read are there at once, and a fault waits behind them', async (t) => {
  const source = new Reads()
  const letters = unpack<string>(source, (read, into) => {
    for (const letter of Buffer.from(read).toString()) {
      if (letter === '!') throw new Error('broken')
      into.push(letter)
    }
  })
  t.equal(letters.ready(), null, 'nothing is read before the first is waited for')
  t.same(await letters.next(), { done: false, value: 'a' })
  t.equal(letters.ended(), null)
  t.same([letters.ready(), letters.ready(), letters.ready(), letters.ready()], ['b', 'c', 'd', null])
  t.equal(source.closed, 1)
  t.match(letters.ended(), { fault: { message: 'broken' } })
  await t.rejects(letters.next(), { message: 'broken' })
  t.same(await letters.next(), { done: true, value: undefined }, 'a promise tells the fault once')
})
