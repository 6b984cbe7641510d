import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import * as v from 'valibot'
import { connect } from '../plugins/sealed/client/client.ts'
import type { Fault } from '../plugins/sealed/client/error.ts'
import { pacedFrames } from '../plugins/sealed/enclave/frame-pacing.ts'
import { UpstreamFailed } from '../core/errors.ts'
import type { Chunk } from '../core/ports/upstream.ts'
import { SettingsShape } from '../core/settings.ts'
import { textOf, toHex } from '../plugins/sealed/wire/bytes.ts'
import { flags, frameOpener, frameSealer } from '../plugins/sealed/wire/frames.ts'
import { streamKey } from '../plugins/sealed/wire/schedule.ts'
import { type Change, between } from './fakes/between.ts'
import { fakeClock } from './fakes/clock.ts'
import { asking, chatRoute, chunk, crafted, eventsOf, framesOf, type Play, sealedStage } from './fakes/sealing.ts'
import { until } from './until.ts'
import { slowness } from './slowness.ts'

const faulty = (fault: Fault, facts: object = {}) => ({ name: 'SealgateError', fault, ...facts })
const streaming = (content: string, more: object = {}) => ({ ...asking(content, more), stream: true }) as const
const contentOf = ({ choices }: Chunk) => choices[0]?.delta.content ?? ''

/** What was given until the end, and what the end was. */
const heard = async (chunks: AsyncIterable<Chunk>) => {
  let text = ''
  try {
    for await (const chunk of chunks) text += contentOf(chunk)
  } catch (error) {
    return { text, error: error as { name: string; fault: string; code: string | null; message: string } }
  }
  return { text, error: null }
}

/** Words in groups far enough apart that each group has a frame of its own. */
const grouped: Play = ({ body }) => {
  async function* chunks() {
    yield chunk({ role: 'assistant', content: '' })
    for (const content of String(body.messages.at(-1)!.content).match(/\s*\S+/g)!) {
      await sleep(130)
      yield chunk({ content })
    }
    yield chunk({}, 'stop')
  }
  return { kind: 'chunks', chunks: chunks() }
}

t.test('whoever is between can break a stream, and change nothing in it', async (t) => {
  const stage = await sealedStage(t, { play: grouped })
  const words = 'alpha beta gamma delta'
  const baseline = crafted(await stage.key(), streaming(words))
  const events = eventsOf(await (await stage.send(baseline.body)).text())
  t.ok(events.length >= 6, `${events.length} events`)
  t.equal(events.at(-1), 'event: done\ndata: [DONE]')
  const foreign = events.slice(0, -1)
  const joined = (events: readonly string[]) => events.map((event) => `${event}\n\n`).join('')
  const on =
    (change: (events: readonly string[]) => readonly string[]): Change =>
    (text) =>
      joined(change(eventsOf(text)))
  const done = 'event: done\ndata: [DONE]'
  const hexAt = (event: string, at: number, to: string) => {
    const from = 'event: data\ndata: '.length + at
    return event.slice(0, from) + to + event.slice(from + to.length)
  }
  const flip = (event: string, at: number) => {
    const from = 'event: data\ndata: '.length + at
    return hexAt(event, at, (Number.parseInt(event[from]!, 16) ^ 1).toString(16))
  }
  const replaced = (events: readonly string[], at: number, event: string) =>
    events.map((text, i) => (i === at ? event : text))

  const attacks: Record<string, readonly [change: Change, fault: Fault | null]> = {
    'an end mark behind the first frame': [on(([first]) => [first!, done]), 'truncated'],
    'an end mark at once': [on(() => [done]), 'truncated'],
    'the last frame left out': [on((events) => events.filter((_, at) => at !== events.length - 2)), 'truncated'],
    'nothing at all': [on(() => []), 'truncated'],
    'a connection that ends': [(text) => ({ text: joined(eventsOf(text).slice(0, 3)), cut: true }), 'truncated'],
    'half a frame': [(text) => ({ text: text.slice(0, 1500), cut: true }), 'truncated'],
    'half a frame, and a good end': [(text) => text.slice(0, 1500), 'truncated'],
    'half a frame as a whole one': [(text) => `${text.slice(0, 1500)}\n\n`, 'damaged'],
    'a frame dropped': [on(([one, , ...rest]) => [one!, ...rest]), 'damaged'],
    'the first frame dropped': [on(([, ...rest]) => rest), 'damaged'],
    'a frame twice': [on(([one, two, ...rest]) => [one!, two!, two!, ...rest]), 'damaged'],
    'two frames changed over': [on(([one, two, three, ...rest]) => [one!, three!, two!, ...rest]), 'damaged'],
    'a frame of another stream': [on((events) => replaced(events, 1, foreign[1]!)), 'damaged'],
    'another stream': [on(() => [...foreign, done]), 'damaged'],
    'a flag that says final': [on((events) => replaced(events, 1, hexAt(events[1]!, 46, '01'))), 'damaged'],
    'a flag that says error': [on((events) => replaced(events, 1, hexAt(events[1]!, 46, '02'))), 'damaged'],
    'an unknown flag': [on((events) => replaced(events, 1, hexAt(events[1]!, 46, '03'))), 'damaged'],
    'the final flag taken away': [
      on((events) => replaced(events, events.length - 2, hexAt(events.at(-2)!, 46, '00'))),
      'damaged',
    ],
    'another counter': [on((events) => replaced(events, 1, hexAt(events[1]!, 38, '00000002'))), 'damaged'],
    'upper case': [
      on((events) => replaced(events, 1, `event: data\ndata: ${events[1]!.slice(18).toUpperCase()}`)),
      'damaged',
    ],
    'no hex': [on((events) => replaced(events, 1, 'event: data\ndata: trust me')), 'damaged'],
    'plain JSON': [
      on((events) => replaced(events, 1, `event: data\ndata: ${JSON.stringify(chunk({ content: 'lie' }))}`)),
      'damaged',
    ],
    'over 1 MiB': [
      on((events) => replaced(events, 1, `event: data\ndata: ${'00'.repeat(1024 * 1024 + 1)}`)),
      'damaged',
    ],
    'a plain error behind a frame': [on(([one]) => [one!, 'event: error\ndata: {"error":"trust me"}']), 'truncated'],
    'a plain error at once': [on(() => ['event: error\ndata: {"error":"trust me"}']), 'unavailable'],
    'frames behind the final one': [on((events) => [...events.slice(0, -1), foreign[1]!, events[1]!]), null],
    'a plain error behind the final one': [on((events) => [...events.slice(0, -1), 'event: error\ndata: {}']), null],
    'no end mark': [on((events) => events.slice(0, -1)), null],
    'heartbeats, comments and unknown events': [
      on((events) =>
        events.flatMap((event) => [
          'event: heartbeat\ndata: {"message":"trust me"}',
          ': x',
          'event: odd\ndata: x',
          event,
        ]),
      ),
      null,
    ],
  }
  for (let bit = 0; bit < 24; bit++) {
    attacks[`byte ${bit * 23} flipped`] = [on((events) => replaced(events, 1, flip(events[1]!, bit * 46))), 'damaged']
  }
  const all = Object.entries(attacks).map(async ([name, [change, fault]]) => {
    const { credential } = await stage.gateway.keys.create({})
    const baseUrl = await between(t, stage.base, change)
    const client = connect({ baseUrl, apiKey: credential, policy: { allowInsecureDev: true } })
    const { text, error } = await heard(await client.chat.completions.create(streaming(words)))
    if (fault === null) {
      t.equal(error, null, name)
      t.equal(text, words, name)
    } else {
      t.match(error, faulty(fault), name)
      t.ok(words.startsWith(text), `${name}: only what was said before (${text})`)
      t.notMatch(error!.message, /trust/, name)
    }
  })
  await Promise.all(all)
})

t.test('a backend that breaks is told in a sealed frame, and there is no end mark', async (t) => {
  const stage = await sealedStage(t, {
    play({ body }) {
      const early = body.messages.at(-1)!.content === 'at once'
      async function* chunks() {
        if (!early) {
          yield chunk({ content: 'some ' })
          yield chunk({ content: 'text' })
          await sleep(120)
        }
        throw new UpstreamFailed('canary-of-the-backend', { again: false, cause: new Error('canary-of-the-backend') })
      }
      return { kind: 'chunks', chunks: chunks() }
    },
  })
  for (const [words, text] of [
    ['later', 'some text'],
    ['at once', ''],
  ] as const) {
    const made = crafted(await stage.key(), streaming(words))
    const answer = await stage.send(made.body)
    t.equal(answer.status, 200)
    const raw = await answer.text()
    t.notMatch(raw, /done|DONE|canary/)
    t.match(raw, /event: error\ndata: [0-9a-f]+\n\n$/, 'the frame is an event of its own')
    const frames = framesOf(raw)
    const open = frameOpener(streamKey(made.secret, made.nonce))
    const opened = frames.map((frame) => open(frame)!)
    t.same(
      opened.map(({ flag }) => flag),
      [...frames.slice(1).map(() => flags.data), flags.error],
    )
    const last = { error: { code: 'upstream_failed', message: 'Upstream service failed' } }
    t.same(JSON.parse(textOf(opened.at(-1)!.plain)), last)
    const given = await heard(await stage.client.chat.completions.create(streaming(words)))
    t.match(given, { text, error: faulty('failed', { code: 'upstream_failed' }) })
  }
})

t.test('heartbeats until the first frame', async (t) => {
  t.equal(v.parse(SettingsShape, {}).timeouts.heartbeat, 5000, 'every five seconds')
  const stage = await sealedStage(t, {
    settings: { timeouts: { heartbeat: 100 } },
    play({ body }) {
      async function* chunks() {
        await sleep(450)
        yield chunk({ content: String(body.messages.at(-1)!.content) })
        await sleep(450)
        yield chunk({}, 'stop')
      }
      return { kind: 'chunks', chunks: chunks() }
    },
  })
  const began = Date.now()
  const answer = await stage.send(crafted(await stage.key(), streaming('x')).body)
  t.equal(answer.headers.get('content-type'), 'text/event-stream')
  const events = eventsOf(await answer.text())
  const first = events.findIndex((event) => event.startsWith('event: data'))
  t.ok(first >= 1, `${first} before the first frame`)
  let last = 0
  for (const event of events.slice(0, first)) {
    const data = /^event: heartbeat\ndata: (.*)$/.exec(event)?.[1]
    const parsed = JSON.parse(data!)
    t.same(Object.keys(parsed), ['message', 'timestamp'])
    t.ok(parsed.timestamp >= began && parsed.timestamp <= Date.now(), 'in ms')
    t.ok(parsed.timestamp - last > 90, 'no more often than is set')
    last = parsed.timestamp
  }
  t.notOk(
    events.slice(first).some((event) => event.includes('heartbeat')),
    'and none after it',
  )
  t.equal((await heard(await stage.client.chat.completions.create(streaming('y')))).text, 'y', 'clients ignore them')
})

t.test('a whole stream is read to the end of its connection', async (t) => {
  const stage = await sealedStage(t, { play: grouped })
  const { credential } = await stage.gateway.keys.create({})
  const ends: string[] = []
  /** Each event comes by itself, and what follows the last frame comes late. */
  const apart = async (...sent: Parameters<typeof fetch>): Promise<Response> => {
    const answer = await fetch(...sent)
    if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return answer
    const events = [...eventsOf(await answer.text())]
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const event = events.shift()
          if (event === undefined) ends.push('read')
          if (event === undefined) return controller.close()
          if (event.startsWith('event: done')) await sleep(50)
          controller.enqueue(new TextEncoder().encode(`${event}\n\n`))
        },
        cancel: () => void ends.push('cut'),
      },
      { highWaterMark: 0 },
    )
    return new Response(body, { status: answer.status, headers: answer.headers })
  }
  const client = connect({ baseUrl: stage.base, apiKey: credential, policy: { allowInsecureDev: true }, fetch: apart })
  t.same(await heard(await client.chat.completions.create(streaming('alpha beta'))), {
    text: 'alpha beta',
    error: null,
  })
  t.same(ends, ['read'])
  for await (const _ of await client.chat.completions.create(streaming('alpha beta'))) break
  t.same(ends, ['read', 'cut'], 'a caller that leaves before cuts it')
})

t.test('an operator may let a key have more streams', async (t) => {
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const stage = await sealedStage(t, {
    settings: { limits: { sealedStreams: 2 } },
    play() {
      async function* chunks(): AsyncGenerator<Chunk> {
        yield chunk({ content: 'one' })
        await gate
        yield chunk({}, 'stop')
      }
      return { kind: 'chunks', chunks: chunks() }
    },
  })
  const { create } = stage.client.chat.completions
  const open = await Promise.all([create(streaming('a')), create(streaming('b'))])
  await t.rejects(create(streaming('c')), faulty('busy', { status: 429 }))
  release()
  for (const { text } of await Promise.all(open.map(heard))) t.equal(text, 'one')
})

t.test('one stream a caller, and no longer than it is wanted', async (t) => {
  let left = 0
  const stage = await sealedStage(t, {
    play({ body, stream }, signal) {
      const text = String(body.messages.at(-1)!.content)
      if (!stream) {
        const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }]
        return {
          kind: 'completion',
          completion: { id: 'c', object: 'chat.completion', created: 0, model: 'm', choices },
        }
      }
      async function* chunks(): AsyncGenerator<Chunk> {
        yield chunk({ content: text })
        if (text !== 'endless') return yield chunk({}, 'stop')
        await new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            left = performance.now()
            reject(signal.reason)
          }),
        )
      }
      return { kind: 'chunks', chunks: chunks() }
    },
  })
  const { create } = stage.client.chat.completions
  const abort = new AbortController()
  const open = (await create(streaming('endless'), { signal: abort.signal }))[Symbol.asyncIterator]()
  t.equal(contentOf((await open.next()).value), 'endless')

  const second = await stage.send(crafted(await stage.key(), streaming('x')).body)
  t.equal(second.status, 429)
  const text = await second.text()
  t.same(JSON.parse(text), { status: 429, error: 'An active chat stream already exists' }, 'two fields and no more')
  t.ok(Number(second.headers.get('retry-after')) >= 1)
  await t.rejects(create(streaming('x')), faulty('busy', { status: 429 }))
  t.match(await create(asking('whole')), { choices: [{ message: { content: 'whole' } }] }, 'what is no stream goes on')
  const { credential } = await stage.gateway.keys.create({})
  const other = connect({ baseUrl: stage.base, apiKey: credential, policy: { allowInsecureDev: true } })
  t.equal((await heard(await other.chat.completions.create(streaming('x')))).text, 'x', 'so does another caller')

  const waiting = open.next()
  const began = performance.now()
  const reason = new Error('enough')
  abort.abort(reason)
  await t.rejects(waiting, reason, 'the caller’s own reason')
  t.ok(await until(() => left > 0))
  t.ok((left - began) / slowness() < 1000, `the backend is left after ${Math.round(left - began)} ms`)
  const free = async () => {
    const again = await stage.send(crafted(await stage.key(), streaming('x')).body)
    await again.text()
    return again.status === 200
  }
  t.ok(await until(free), 'and the place is free')

  left = 0
  const gone = (await create(streaming('endless')))[Symbol.asyncIterator]()
  await gone.next()
  const stopped = performance.now()
  await gone.return!()
  t.ok(await until(() => left > 0))
  t.ok((left - stopped) / slowness() < 1000, `a loop that is left early: ${Math.round(left - stopped)} ms`)
  for (let i = 0; i < 3; i++) {
    t.equal((await heard(await create(streaming(`${i}`)))).error, null, 'one behind the other, without a pause')
  }
})

t.test('the last chunk says that it is over, and nothing else', async (t) => {
  const play: Play = () => {
    async function* chunks() {
      yield { ...chunk({ role: 'assistant', content: 'all at once' }, 'stop'), usage: counted }
    }
    const counted = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
    return { kind: 'chunks', chunks: chunks() }
  }
  const stage = await sealedStage(t, { play })
  const all = []
  for await (const one of await stage.client.chat.completions.create(streaming('x'))) all.push(one)
  const field = { index: 0, logprobs: null, matched_stop: null }
  t.match(all, [
    { choices: [{ ...field, delta: { content: 'all at once' }, finish_reason: null }] },
    { choices: [{ ...field, finish_reason: 'stop' }] },
  ])
  t.same(all.at(-1)!.choices[0]!.delta, {})
})

/** The same text as tokens of other lengths. */
const cuts = (text: string, lengths: () => number): string[] => {
  const tokens: string[] = []
  for (let at = 0; at < text.length;) {
    const length = lengths()
    tokens.push(text.slice(at, at + length))
    at += length
  }
  return tokens
}

t.test('frames tell no lengths of tokens', async (t) => {
  const text = 'Sealed text of some length, again and again. '.repeat(60)
  let tokens: readonly string[] = []
  const stage = await sealedStage(t, {
    play() {
      async function* chunks() {
        yield chunk({ role: 'assistant', content: '' })
        for (const content of tokens) yield chunk({ content })
        yield chunk({}, 'stop')
      }
      return { kind: 'chunks', chunks: chunks() }
    },
  })
  const ways: Record<string, () => number> = {
    'a letter each': () => 1,
    'seven letters': () => 7,
    'forty letters': () => 40,
    'two hundred': () => 200,
    'any number': () => 1 + Math.floor(Math.random() * 90),
    'short, then long': (() => {
      let sum = 0
      return () => (sum++ < 100 ? 2 : 60)
    })(),
  }
  const counts: number[] = []
  for (const [name, lengths] of Object.entries(ways)) {
    tokens = cuts(text, lengths)
    const made = crafted(await stage.key(), streaming('x'))
    const frames = framesOf(await (await stage.send(made.body)).text())
    const open = frameOpener(streamKey(made.secret, made.nonce))
    const texts = frames.map((frame) => textOf(open(frame)!.plain).trimEnd())
    t.equal(texts.map((line) => (line === '' ? '' : contentOf(JSON.parse(line)))).join(''), text, name)
    t.same(
      [...new Set(frames.map(({ length }) => length))],
      [24 + 512 + 16],
      `${name}: ${frames.length} frames of one size`,
    )
    counts.push(frames.length)
    t.ok(new Set(texts.map(({ length }) => length)).size > 1, 'though what is in them differs')
  }
  t.ok(Math.max(...counts) / Math.min(...counts) < 1.8, `nor does their number tell much: ${counts.join(', ')}`)

  tokens = ['a', 'x'.repeat(2000), 'b']
  const large = framesOf(await (await stage.send(crafted(await stage.key(), streaming('x')).body)).text())
  t.ok(
    large.every(({ length }) => (length - 40) % 512 === 0),
    'a token larger than a bucket takes whole ones',
  )
})

t.test('merging never overflows a bucket', async (t) => {
  const clock = fakeClock()
  const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
  async function* chunks(): AsyncGenerator<Chunk> {
    yield { ...head, choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] }
    for (let at = 0; at < 400; at++) {
      const delta = at % 50 < 3 ? { reasoning_content: 'so'.repeat(at % 5) } : { content: 'y'.repeat(1 + (at % 9)) }
      yield { ...head, choices: [{ index: 0, delta, finish_reason: null }], obfuscation: 'z'.repeat((at * 7) % 40) }
    }
  }
  const sizes: number[] = []
  const reading = (async () => {
    for await (const { text } of pacedFrames(
      chunks(),
      { model: 'quiet', counts: true },
      clock,
      AbortSignal.timeout(60_000),
    ))
      sizes.push(text.length)
  })()
  await clock.pass(60_000)
  await reading
  t.ok(sizes.length > 3)
  t.ok(Math.max(...sizes) <= 512, sizes.join(' '))
  t.ok(
    sizes.slice(2, -1).every((size) => size > 300),
    'and buckets are used',
  )
})

t.test('each choice of each frame has every key, and the delta of an end is empty', async (t) => {
  const clock = fakeClock()
  const of = (index: number, delta: Chunk['choices'][number]['delta'], finish_reason: string | null = null): Chunk => {
    return { ...chunk({}), choices: [{ index, delta, finish_reason }] }
  }
  async function* chunks(): AsyncGenerator<Chunk> {
    for (const text of ['a', 'b', 'c', 'd']) for (const index of [0, 1]) yield of(index, { content: `${text}${index}` })
    yield of(0, { content: '' }, 'length')
    yield of(1, { role: null, content: null, reasoning_content: null, tool_calls: null }, 'stop')
  }
  const choices: Chunk['choices'][number][] = []
  const reading = (async () => {
    for await (const { text } of pacedFrames(
      chunks(),
      { model: 'quiet', counts: true },
      clock,
      AbortSignal.timeout(60_000),
    ))
      choices.push(...(JSON.parse(textOf(text)) as Chunk).choices)
  })()
  await clock.pass(10_000)
  await reading
  const keys = ['index', 'delta', 'finish_reason', 'logprobs', 'matched_stop'].sort()
  const deltaKeys = ['role', 'content', 'reasoning_content', 'tool_calls'].sort()
  for (const choice of choices) {
    t.same(Object.keys(choice).sort(), keys)
    t.same(Object.keys(choice.delta).sort(), choice.finish_reason == null ? deltaKeys : [])
  }
  const saidBy = (which: number) =>
    choices.map(({ index, delta }) => (index === which ? (delta.content ?? '') : '')).join('')
  t.same([saidBy(0), saidBy(1)], ['a0b0c0d0', 'a1b1c1d1'], 'and no choice speaks for another')
})

t.test('all chunks of an answer tell one id, one time and the kind of the interface', async (t) => {
  const headsOf = async (given: readonly object[]) => {
    const clock = fakeClock()
    async function* chunks(): AsyncGenerator<Chunk> {
      for (const head of given) {
        yield { ...head, model: 'theirs', choices: chunk({ content: 'a' }).choices } as unknown as Chunk
        await clock.sleep(500)
      }
    }
    const heads: object[] = []
    const began = Math.floor(clock.now() / 1000)
    const reading = (async () => {
      const shown = { model: 'quiet', counts: true }
      for await (const { text } of pacedFrames(chunks(), shown, clock, AbortSignal.timeout(60_000))) {
        const { id, object, created } = JSON.parse(textOf(text)) as Chunk
        heads.push({ id, object, created })
      }
    })()
    await clock.pass(5_000)
    await reading
    return { heads, began }
  }
  const whole = { id: 'c1', object: 'chat.completion.chunk', created: 7 }
  const foreign = [{ id: 'c2' }, { object: 'chat.completion' }, { created: 8 }].map((member) => ({
    ...whole,
    ...member,
  }))
  t.same((await headsOf([whole, {}, ...foreign])).heads, Array(5).fill(whole))
  for (const bare of [{}, { id: 12, object: '', created: '7' }, { id: '', created: 1.5 }]) {
    const { heads, began } = await headsOf([bare, bare, whole])
    t.match(heads[0], { id: /^chatcmpl-[0-9a-f]{24}$/, object: 'chat.completion.chunk', created: began })
    t.same(heads, [heads[0], heads[0], heads[0]])
  }
})

t.test('a chunk that is longer than a frame comes in several, or its stream fails', async (t) => {
  const paced = async (long: Chunk): Promise<readonly string[]> => {
    const clock = fakeClock()
    async function* chunks(): AsyncGenerator<Chunk> {
      yield chunk({ content: 'a' })
      // Alone in its frame, as no chunk waits that it could be merged with.
      await clock.sleep(500)
      yield long
      await clock.sleep(500)
      yield chunk({ content: 'z' })
    }
    const texts: string[] = []
    const reading = (async () => {
      for await (const { text } of pacedFrames(
        chunks(),
        { model: 'quiet', counts: true },
        clock,
        AbortSignal.timeout(60_000),
      ))
        texts.push(textOf(text))
    })()
    const read = reading.catch((error: unknown) => error)
    await clock.pass(10_000)
    const error = await read
    if (error !== undefined) throw error
    t.ok(Math.max(...texts.map((text) => Buffer.byteLength(text))) <= 1024 * 1024 - 1024)
    return texts
  }
  const joined = (texts: readonly string[]) => texts.map((text) => contentOf(JSON.parse(text))).join('')
  const padded = await paced({ ...chunk({ content: 'b' }), padding: 'p'.repeat(2 * 1024 * 1024) })
  t.equal(joined(padded), 'abz')
  const short = { index: 0, function: { name: 'look', arguments: '{}' } }
  const calling = await paced({ ...chunk({ tool_calls: [short] }), padding: 'p'.repeat(2 * 1024 * 1024) })
  t.match(calling.join(''), '"look"')
  // The first piece would end within a character.
  const text = `xxx${'😀"\u0001'.repeat(300_000)}`
  const sum = await paced(chunk({ content: text }))
  t.equal(joined(sum), `a${text}z`)
  t.ok(
    sum.every((line) => !/\\ud[89a-f]/i.test(line)),
    'no character is torn',
  )
  const whole = chunk({ content: text })
  const ended = await paced({
    ...whole,
    choices: whole.choices.map((choice) => ({ ...choice, finish_reason: 'stop' })),
  })
  const reasons = ended.map((text) => (JSON.parse(text) as Chunk).choices[0]?.finish_reason ?? null)
  t.equal(reasons.indexOf('stop'), ended.length - 2, 'the end stands behind the whole text')
  const call = { index: 0, function: { arguments: 'x'.repeat(2 * 1024 * 1024) } }
  await t.rejects(paced(chunk({ content: 'b', tool_calls: [call] })), UpstreamFailed)
})

t.test('frames go at fixed moments', async (t) => {
  t.test('to the millisecond, by a clock of ours', async (t) => {
    const clock = fakeClock()
    async function* chunks() {
      await clock.sleep(37)
      for (let at = 0; at < 60; at++) {
        yield chunk({ content: `${at} ` })
        await clock.sleep([3, 11, 0, 149, 52, 1, 26][at % 7]!)
      }
    }
    const began = clock.now()
    const times: number[] = []
    let output = ''
    const reading = (async () => {
      for await (const { chunk } of pacedFrames(
        chunks(),
        { model: 'quiet', counts: true },
        clock,
        AbortSignal.timeout(60_000),
      )) {
        times.push(clock.now() - began)
        output += contentOf(chunk)
      }
    })()
    await clock.pass(20_000)
    await reading
    t.equal(times[0], 37, 'the first at once')
    t.ok(times.length > 20)
    t.same([...new Set(times.map((time) => (time - 37) % 50))], [0], times.join(' '))
    t.equal(new Set(times).size, times.length, 'one a tick')
    t.equal(output, Array.from({ length: 60 }, (_, at) => `${at} `).join(''))
  })

  t.test('and over a connection', async (t) => {
    const stage = await sealedStage(t, {
      play() {
        async function* chunks() {
          for (let at = 0; at < 80; at++) {
            yield chunk({ content: `${at} ` })
            await sleep(1 + Math.random() * 60)
          }
        }
        return { kind: 'chunks', chunks: chunks() }
      },
    })
    const answer = await stage.send(crafted(await stage.key(), streaming('x')).body)
    const times: number[] = []
    let frames = 0
    // Frames tell nothing while a busy machine lets the process stand still.
    let [tick, stall] = [performance.now(), 0]
    const watch = setInterval(() => {
      const now = performance.now()
      if (now - tick > 15) stall = now
      tick = now
    }, 5)
    t.teardown(() => clearInterval(watch))
    for await (const part of answer.body!) {
      const now = performance.now()
      const isSteady = now - tick < 15 && now - stall > 30
      for (const _ of Buffer.from(part)
        .toString()
        .matchAll(/event: data/g)) {
        frames++
        if (isSteady) times.push(now)
      }
    }
    const phases = times.slice(1).map((time) => time % 50)
    // However late the first one came, all others are late by the same.
    const near = (phase: number) => phases.filter((value) => (value - phase + 50) % 50 < 15).length
    const onTime = Math.max(...phases.map(near)) / phases.length
    t.ok(frames > 20, `${frames} frames`)
    // By chance less than half would be.
    t.ok(times.length < 10 || onTime > 0.8, `${Math.round(onTime * 100)} % on the grid`)
  })
})

t.test('every response draws its own prefix', async (t) => {
  const stage = await sealedStage(t, { play: grouped })
  const prefixes = new Set<string>()
  for (let i = 0; i < 8; i++) {
    const frames = framesOf(await (await stage.send(crafted(await stage.key(), streaming('a b')).body)).text())
    const own = new Set(frames.map((frame) => toHex(frame.slice(0, 19))))
    t.equal(own.size, 1)
    for (const prefix of own) prefixes.add(prefix)
    t.same(
      frames.map((frame) => Buffer.from(frame).readUInt32BE(19)),
      frames.map((_, at) => at),
    )
  }
  t.equal(prefixes.size, 8)
  const key = new Uint8Array(32)
  t.not(toHex(frameSealer(key)(new Uint8Array(1))), toHex(frameSealer(key)(new Uint8Array(1))))
  t.equal((await stage.call('GET', `/${chatRoute}`)).status, 405)
})
