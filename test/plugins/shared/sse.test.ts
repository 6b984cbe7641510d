import t from 'tap'
import { sseEvents, type SseEvent } from '../../../plugins/shared/sse.ts'
import { UpstreamFailed } from '../../../core/errors.ts'

const encode = (text: string) => new TextEncoder().encode(text)

async function* reads(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield part
}

const events = async (parts: readonly Uint8Array[]): Promise<SseEvent[]> => {
  const found: SseEvent[] = []
  for await (const event of sseEvents(reads(parts))) found.push(event)
  return found
}

const bytewise = (bytes: Uint8Array) => [...bytes].map((byte) => Uint8Array.of(byte))

const stream = encode(
  '\ufeff: hello\n\ndata: {"a":"é😀"}\r\n\r\nevent: news\rdata:one\rdata\rdata:  two\r\rid: 7\nretry: 5\nevent: none\n\n' +
    'data:\n\nunknown: x\ndata: a: b\n\n\n\n:\r\ndata: [DONE]\n\ndata: unfinished\n',
)
const answer = [
  { event: null, data: '{"a":"é😀"}' },
  { event: 'news', data: 'one\n\n two' },
  { event: null, data: '' },
  { event: null, data: 'a: b' },
  { event: null, data: '[DONE]' },
]

t.test('whole, byte by byte, and in two at every place', async (t) => {
  t.same(await events([stream]), answer)
  t.same(await events(bytewise(stream)), answer)
  for (let at = 0; at <= stream.length; at++) {
    t.same(await events([stream.subarray(0, at), stream.subarray(at)]), answer, `cut at ${at}`)
  }
})

t.test('an event tells where the stream goes on, and after which pause', async (t) => {
  const told = 'id: a\nretry: 5\ndata:\n\nid:b\ndata: x\n\nretry: soon\ndata: y\n\nid: c\ndata: z\n\nid: d\n'
  t.same(await events([encode(told)]), [
    { event: null, data: '', id: 'a', retry: 5 },
    { event: null, data: 'x', id: 'b', retry: 5 },
    { event: null, data: 'y' },
    { event: null, data: 'z', id: 'c', retry: undefined },
  ])
})

t.test('what has not ended is not given, wherever it is cut', async (t) => {
  for (let at = 0; at < stream.length; at++) {
    const given = await events([stream.subarray(0, at)])
    t.same(given, answer.slice(0, given.length))
  }
  t.same(await events([encode('data: half')]), [])
  t.same(await events([encode('data: no empty line\n')]), [])
})

t.test('a line of 2 MB, in small pieces, costs no more than its length', async (t) => {
  const long = encode(`data: ${'x'.repeat(2 * 1024 * 1024)}\r\n\r\n`)
  const pieces: Uint8Array[] = []
  for (let at = 0; at < long.length; at += 16) pieces.push(long.subarray(at, at + 16))
  const before = process.cpuUsage().user
  const [event, ...rest] = await events(pieces)
  t.equal(event!.data.length, 2 * 1024 * 1024)
  t.equal(rest.length, 0)
  t.ok(process.cpuUsage().user - before < 5e6)
})

t.test('an event over 4 MiB breaks the stream, after what came before it', async (t) => {
  const line = encode(`data: ${'x'.repeat(1024 * 1024)}\n`)
  for (const parts of [[encode('data: ' + 'x'.repeat(4 * 1024 * 1024))], [line, line, line, line, line]]) {
    const found: string[] = []
    const reading = async () => {
      for await (const { data } of sseEvents(reads([encode('data: first\n\n'), ...parts]))) found.push(data)
    }
    await t.rejects(reading(), UpstreamFailed)
    t.same(found, ['first'])
  }
})

t.test('events of one read are there at once, and leaving early closes the source', async (t) => {
  let asked = 0
  let closed = 0
  const source: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false, value: encode(`data: ${asked++}\n\ndata: again\n\n`) }),
      return: async () => ({ done: true, value: void closed++ }),
    }),
  }
  const found: string[] = []
  for await (const { data } of sseEvents(source)) {
    found.push(data)
    if (found.length === 4) break
  }
  t.same(found, ['0', 'again', '1', 'again'])
  t.equal(asked, 2)
  t.equal(closed, 1)
})

t.test('a fault of the source comes through, and after it there is nothing', async (t) => {
  const broken = async function* () {
    yield encode('data: one\n\n')
    throw new Error('reset')
  }
  const source = sseEvents(broken())[Symbol.asyncIterator]()
  t.same(await source.next(), { done: false, value: { event: null, data: 'one' } })
  await t.rejects(source.next(), { message: 'reset' })
  t.same(await source.next(), { done: true, value: undefined })
})
