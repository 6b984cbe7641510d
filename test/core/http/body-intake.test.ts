import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { IncomingMessage, ServerResponse } from 'node:http'
import t from 'tap'
import { bodyIntake } from '../../../core/http/body-intake.ts'
import { joinChunks, joined, leaveUnread } from '../../../core/http/unwanted-bytes.ts'
import { TooMany, TooSlow } from '../../../core/errors.ts'
import { fakeClock, settled } from '../../fakes/clock.ts'

const leastRate = 1_000

/** A request whose body comes when the test says so. */
const coming = (held: number[] = [], grow: (bytes: number) => void = (bytes) => void held.push(bytes)) => {
  const clock = fakeClock()
  const stream = Object.assign(new Readable({ read: () => {} }), {
    headers: {} as Record<string, string>,
    complete: false,
    socket: Object.assign(new EventEmitter(), {
      pauses: 0,
      pause: () => void stream.socket.pauses++,
      resume: () => {},
    }),
  })
  const terms = { clock, held: { grow, shrink: () => {}, release: () => {} }, charge: async () => {}, leastRate }
  const intake = () => bodyIntake(stream as unknown as IncomingMessage, {} as ServerResponse, terms)
  return { clock, stream, intake }
}

const outcome = (body: Promise<Buffer>) =>
  body.then(
    ({ length }) => length,
    (error: unknown) => error,
  )

t.test('a body whose sender is silent for fifteen seconds is too slow', async (t) => {
  const { clock, intake } = coming()
  const body = outcome(intake().whole(1_000_000, () => new Error()))
  let over = false
  void body.then(() => (over = true))
  await clock.pass(14_999)
  t.notOk(over)
  await clock.pass(1)
  t.match(await body, { status: 408, message: 'The body comes too slowly' })
  t.ok((await body) instanceof TooSlow)
  t.equal(clock.armed(), 0)
})

t.test('a sender that drips is too slow', async (t) => {
  const { clock, stream, intake } = coming()
  const body = outcome(intake().whole(1_000_000, () => new Error()))
  for (let second = 0; second < 15; second++) {
    stream.push(Buffer.alloc(100))
    await clock.pass(1_000)
  }
  t.ok((await body) instanceof TooSlow)
})

t.test('a sender that stood for long and sends again is not cut', async (t) => {
  const { clock, stream, intake } = coming()
  const body = outcome(intake().whole(1_000_000, () => new Error()))
  for (let round = 0; round < 4; round++) {
    await clock.pass(11_500)
    stream.push(Buffer.alloc(3_000))
    await settled()
  }
  stream.push(null)
  t.equal(await body, 12_000)
  t.equal(clock.armed(), 0)
})

t.test('the time of a slow reader is none of its sender', async (t) => {
  const { clock, stream, intake } = coming()
  const pieces = intake().pieces()
  stream.push(Buffer.alloc(100_000))
  t.equal((await pieces.next()).value?.length, 100_000)
  stream.push(Buffer.alloc(200_000))
  await settled()
  t.ok(stream.isPaused(), 'the sender waits')
  await clock.pass(60_000)
  t.equal((await pieces.next()).value?.length, 200_000)
  stream.push(null)
  t.ok((await pieces.next()).done)
})

t.test('short parts of one turn are one piece', async (t) => {
  const { stream, intake } = coming()
  const pieces = intake().pieces()
  const first = pieces.next()
  for (let at = 0; at < 100; at++) {
    stream.push(Buffer.alloc(65))
    await new Promise((resolve) => process.nextTick(resolve))
  }
  t.equal((await first).value?.length, 6_500)
  stream.push(null)
  t.ok((await pieces.next()).done)
})

t.test('pieces that are left early stop the body', async (t) => {
  const { clock, stream, intake } = coming()
  const pieces = intake().pieces()
  stream.push(Buffer.alloc(10))
  await pieces.next()
  await pieces.return(undefined)
  t.ok(stream.isPaused())
  t.equal(clock.armed(), 0)
})

t.test('bytes of a body without a length are held as they come, and of one with a length before', async (t) => {
  const held: number[] = []
  const { stream, intake } = coming(held)
  const body = outcome(intake().whole(1_000_000, () => new Error()))
  for (let at = 0; at < 100; at++) stream.push(Buffer.alloc(100))
  stream.push(null)
  t.equal(await body, 10_000)
  t.same(held, [4_100, 4_100])
  const full = coming([], () => {
    throw new TooMany()
  })
  full.stream.headers['content-length'] = '5'
  t.ok((await outcome(full.intake().whole(1_000_000, () => new Error()))) instanceof TooMany)
})

t.test('a body that is there at once is read over many turns of the loop', async (t) => {
  const { stream, intake } = coming()
  const body = outcome(intake().whole(10_000_000, () => new Error()))
  for (let at = 0; at < 32; at++) stream.push(Buffer.alloc(64 * 1024))
  stream.push(null)
  t.equal(await body, 2 * 1024 * 1024)
  t.equal(stream.socket.pauses, 8)
  const short = coming()
  const shortParts = outcome(short.intake().whole(10_000_000, () => new Error()))
  for (let at = 0; at < 5_000; at++) short.stream.push(Buffer.alloc(65))
  short.stream.push(null)
  t.equal(await shortParts, 325_000)
  t.equal(short.stream.socket.pauses, 10, 'many parts as well')
})

t.test('a request whose socket is gone before its body was read is aborted', async (t) => {
  const { stream, intake } = coming()
  stream.destroy()
  await settled()
  t.match(await outcome(intake().whole(10, () => new Error())), { name: 'Aborted' })
  t.match(
    await intake()
      .pieces()
      .next()
      .catch((error: unknown) => error),
    { name: 'Aborted' },
  )
})

t.test('a body that was answered early is read to its end, whoever still waits for a piece', async (t) => {
  for (const isLate of [false, true]) {
    const { clock, stream, intake } = coming()
    Object.assign(stream.socket, { destroyed: false, destroy: () => t.fail('The connection is kept') })
    const pieces = intake().pieces()
    const first = pieces.next()
    await settled()
    for (let sent = 0; sent < 2; sent++) stream.push(Buffer.alloc(32 * 1024))
    t.equal(((await first).value as Buffer).length, 32 * 1024)
    leaveUnread(stream as unknown as IncomingMessage, clock)
    await settled()
    if (isLate) await pieces.return(undefined)
    const end = new Promise((resolve) => stream.once('end', resolve))
    for (let sent = 0; sent < 4; sent++) {
      await settled()
      stream.push(Buffer.alloc(32 * 1024))
    }
    stream.push(null)
    await end
    t.equal((await Promise.race([pieces.next(), settled().then(() => null)]))?.done ?? true, true)
    await clock.pass(60_000)
  }
})

t.test('tiny chunks of a body that nobody reads are parsed no further', async (t) => {
  const { clock, stream } = coming()
  stream.headers['transfer-encoding'] = 'chunked'
  joined(() => {}, clock)(stream as unknown as IncomingMessage, {} as ServerResponse)
  leaveUnread(stream as unknown as IncomingMessage, clock)
  await settled()
  const parsing = () => {}
  stream.socket.on('data', parsing)
  const chunk = Buffer.from(' ')
  for (let at = 0; at < 8_000; at++) stream.push(chunk)
  t.equal(stream.socket.pauses, 0)
  for (let at = 0; at < 1_000; at++) stream.push(chunk)
  t.equal(stream.socket.pauses, 1)
  await settled()
  t.notOk(stream.socket.listeners('data').includes(parsing))
  t.equal(stream.socket.listenerCount('data'), 1, 'the rest is thrown away')
  stream.socket.emit('data', chunk)
  t.equal(stream.socket.pauses, 2, 'a little at a time')
})

t.test('short chunks come together, in their order, and long ones as they are', async (t) => {
  const { stream } = coming()
  const parts: string[] = []
  joinChunks(stream as unknown as IncomingMessage, () => {})
  stream.on('data', (part: Buffer) => void parts.push(part.toString()))
  const text = Array.from({ length: 2_000 }, (_, at) => `${at} `.padStart(100))
  for (const part of text) stream.push(Buffer.from(part))
  stream.push(Buffer.alloc(1_024, 'l'))
  stream.push(Buffer.from('end'))
  stream.push(null)
  await new Promise((resolve) => stream.once('end', resolve))
  t.equal(parts.join(''), `${text.join('')}${'l'.repeat(1_024)}end`)
  t.ok(parts.length < 20, `${parts.length} parts`)
  t.ok(parts.includes('l'.repeat(1_024)))
})

t.test('whoever sends short chunks waits for a reader that takes none', async (t) => {
  const { stream } = coming()
  joinChunks(stream as unknown as IncomingMessage, () => {})
  const chunk = Buffer.alloc(100)
  let taken = 0
  while (taken < 1_000_000 && stream.push(chunk)) taken += chunk.length
  t.ok(taken > 10_000 && taken <= stream.readableHighWaterMark, `${taken} bytes`)
})
