import '../../fakes/unwatched.ts'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { system } from '../../../adapters/memory/platform.ts'
import { sendEvents } from '../../../core/http/events.ts'
import type { ServerEvent } from '../../../core/http/reply.ts'

interface Sent {
  readonly events: readonly ServerEvent[]
  readonly ownChunks?: boolean
  readonly breaks?: boolean
  around?(response: ServerResponse): void
}

/** All that a connection brings for these bytes, as text. */
const answered = async (t: Test, bytes: string, sent: Sent): Promise<string> => {
  const server = createServer((_, response) => {
    sent.around?.(response)
    async function* all(): AsyncGenerator<ServerEvent> {
      yield* sent.events
      if (sent.breaks === true) throw new Error('broken')
    }
    const pace = { clock: system.clock, heartbeat: 60_000, stalled: 60_000, ownChunks: sent.ownChunks ?? true }
    const head = () => ({ 'content-type': 'text/event-stream', date: 'today' })
    void sendEvents(response, head, all(), null, () => ({ data: 'broken' }), pace)
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close().closeAllConnections())
  await new Promise((resolve) => server.once('listening', resolve))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
  socket.write(bytes)
  let all = ''
  for await (const part of socket) all += part
  return all
}

const ask = (version: string, more = '') => `GET / HTTP/${version}\r\nhost: a\r\n${more}\r\n`
const events = [{ data: 'one' }, { data: 'é' }, { data: 'x'.repeat(20_000) }, { comment: 'waiting' }]
const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4)

/** The content of a body in chunks, and what stands behind it. Throws where a chunk is not framed well. */
const unframed = (body: string): readonly [content: string, rest: string] => {
  let bytes = Buffer.from(body)
  let content = ''
  for (;;) {
    const line = bytes.indexOf('\r\n')
    const size = Number.parseInt(bytes.toString('latin1', 0, line), 16)
    const end = line + 2 + size
    if (!(size >= 0) || bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error('A chunk without its end')
    content += bytes.toString('utf8', line + 2, end)
    bytes = bytes.subarray(end + 2)
    if (size === 0) return [content, bytes.toString()]
  }
}

const plain = `data: one\n\ndata: é\n\ndata: ${'x'.repeat(20_000)}\n\n: waiting\n\n`

t.test('own chunks carry what those of Node carry', async (t) => {
  for (const ownChunks of [true, false]) {
    const answer = await answered(t, ask('1.1', 'connection: close\r\n'), { events, ownChunks })
    t.match(answer.toLowerCase(), 'transfer-encoding: chunked\r\n')
    t.same(unframed(bodyOf(answer)), [plain, ''])
  }
})

t.test('a connection serves again behind an answer in own chunks', async (t) => {
  const answer = await answered(t, ask('1.1') + ask('1.1', 'connection: close\r\n'), { events })
  const [content, second] = unframed(bodyOf(answer))
  t.equal(content, plain)
  t.same(unframed(bodyOf(second)), [plain, ''])
})

t.test('a stream that breaks is framed to its last event', async (t) => {
  const answer = await answered(t, ask('1.1', 'connection: close\r\n'), { events: [{ data: 'one' }], breaks: true })
  t.same(unframed(bodyOf(answer)), ['data: one\n\ndata: broken\n\n', ''])
})

t.test('a stream without an event is a whole answer', async (t) => {
  const answer = await answered(t, ask('1.1', 'connection: close\r\n'), { events: [] })
  t.same(unframed(bodyOf(answer)), ['', ''])
})

t.test('HTTP/1.0 gets the bytes themselves, and the end of the connection', async (t) => {
  const answer = await answered(t, ask('1.0'), { events })
  t.notMatch(answer.toLowerCase(), 'transfer-encoding')
  t.equal(bodyOf(answer), plain)
})

t.test('code that wraps the response never sees a frame', async (t) => {
  const seen: string[] = []
  const around = (response: ServerResponse) => {
    const write = response.write.bind(response) as (part: unknown) => boolean
    response.write = ((part: unknown) => {
      seen.push(String(part))
      return write(part)
    }) as typeof response.write
  }
  const answer = await answered(t, ask('1.1', 'connection: close\r\n'), { events: [{ data: 'one' }], around })
  t.same(seen, ['data: one\n\n'])
  t.same(unframed(bodyOf(answer)), ['data: one\n\n', ''])
})
