import t from 'tap'
import type { DialectEvent, EventWriter } from '../../../../../core/dialects/event.ts'
import type { ChatWire, WireEvents } from '../../../../../core/ports/upstream.ts'
import { system } from '../../../../../adapters/memory/platform.ts'
import { chunkEvents } from '../../../../../plugins/providers/shared/chat-chunks.ts'
import { messagesEvents } from '../../../../../plugins/providers/shared/messages/messages-answers.ts'
import { responsesEvents } from '../../../../../plugins/providers/shared/responses/responses-answers.ts'
import { generateEvents } from '../../../../../plugins/shared/dialects/generate-content/events.ts'
import { messageEvents } from '../../../../../plugins/shared/dialects/messages/events.ts'
import { responseEvents } from '../../../../../plugins/shared/dialects/responses/events.ts'
import { writing } from '../../../../../plugins/surfaces/shared/answering.ts'
import { DialectEvents } from '../../../../../plugins/surfaces/shared/straight/dialect-events.ts'
import { chance } from '../../../../lab/bench/retrieval/chance.ts'
import { seed } from '../../../../whole.ts'

const seal = { seal: (text: string) => text, open: (text: string) => text }
const { below, pick } = chance(seed)

/** Texts of which many are their own JSON, and some are not. */
const pieces = [
  ' word',
  'a',
  ' of',
  '"',
  '\\',
  '\n',
  'é',
  '漢字',
  '🙂',
  '\u2028',
  '\u007f',
  'text',
  'content',
  '{"a":1}',
]
const wordsOf = (): string => Array.from({ length: 1 + below(3) }, () => pick(pieces)).join('')

/** Some backends write every letter beyond ASCII as an escape. */
const printed = (value: unknown): string => {
  const json = JSON.stringify(value)
  return below(8) > 0
    ? json
    : json.replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const named = (data: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${printed(data)}\n\n`

const count = 60

const chunk = (delta: object, more: object = {}): string => {
  const choices = [{ index: 0, delta, finish_reason: null, ...more }]
  return `data: ${printed({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'theirs', choices })}\n\n`
}

/** Streams in the dialects of backends: each has texts in a row, with other events in between. */
const streams: Readonly<Record<string, (words: () => string) => readonly string[]>> = {
  chat: (words) => [
    chunk({ role: 'assistant', content: '' }),
    ...Array.from({ length: 9 }, () => chunk({ reasoning_content: words() })),
    ...Array.from({ length: count }, (_, at) =>
      at % 25 === 24
        ? chunk({ tool_calls: [{ index: (at - 24) / 25, id: `call_${at}`, function: { name: 'f', arguments: '{}' } }] })
        : chunk({ content: words() }),
    ),
    chunk({}, { finish_reason: 'stop' }),
    'data: [DONE]\n\n',
  ],
  padded: (words) => [
    ...Array.from({ length: count }, () => {
      const event = chunk({ content: words() })
      return event.replace('}\n\n', `,"obfuscation":"${'x'.repeat(below(9))}"}\n\n`)
    }),
    chunk({}, { finish_reason: 'stop' }),
    'data: [DONE]\n\n',
  ],
  odds: (words) => [
    ...Array.from({ length: count }, () =>
      chunk(
        { content: words() },
        { logprobs: { content: [{ token: '#', logprob: -1, bytes: [35], top_logprobs: [] }] } },
      ),
    ),
    chunk({}, { finish_reason: 'stop' }),
    'data: [DONE]\n\n',
  ],
  Messages: (words) => [
    named({
      type: 'message_start',
      message: { id: 'msg_1', model: 'theirs', content: [], usage: { input_tokens: 3 } },
    }),
    ...['text', 'thinking', 'text'].flatMap((kind, index) => [
      named({ type: 'content_block_start', index, content_block: { type: kind, [kind]: '' } }),
      ...Array.from({ length: count / 3 }, () =>
        named({ type: 'content_block_delta', index, delta: { type: `${kind}_delta`, [kind]: words() } }),
      ),
      named({ type: 'content_block_stop', index }),
    ]),
    named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }),
    named({ type: 'message_stop' }),
  ],
  Responses: (words) => {
    let sequence_number = 0
    const next = (type: string, more: object) => named({ type, sequence_number: sequence_number++, ...more })
    const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] }
    return [
      next('response.created', { response: { id: 'resp_1', model: 'theirs', status: 'in_progress', output: [] } }),
      next('response.output_item.added', { output_index: 0, item }),
      ...Array.from({ length: count }, () =>
        next('response.output_text.delta', {
          ...{ item_id: 'msg_1', output_index: 0, content_index: 0, delta: words(), logprobs: [] },
          obfuscation: 'y'.repeat(below(9)),
        }),
      ),
      next('response.output_item.done', { output_index: 0, item }),
      next('response.completed', { response: { id: 'resp_1', model: 'theirs', status: 'completed', output: [item] } }),
    ]
  },
}

const clock = { ...system.clock, now: () => 1_000_000_000_000 }
const asked = { model: 'theirs', tool: null, overlap: '' } as const

/** Readers of a stream, as a backend of its dialect has them. */
const readers: Readonly<Record<string, (native: boolean) => WireEvents>> = {
  chat: () => chunkEvents(200, true),
  padded: () => chunkEvents(200, true),
  odds: () => chunkEvents(200, true),
  Messages: (native) => messagesEvents(native ? { ...asked, native } : asked, clock, 200),
  Responses: (native) => responsesEvents('theirs', native, clock, 200),
}

const writers: Readonly<Record<string, () => EventWriter>> = {
  chat: () => writing('ours', true, (chunk, model) => JSON.stringify({ ...chunk, model })),
  Messages: () => messageEvents('ours', seal),
  Responses: () =>
    responseEvents({
      ...{ request: { model: 'ours', input: 'Hello' } as never, model: 'ours', seal, created: 1 },
      ...{ now: () => 2, id: (kind) => `${kind}_1` },
    }),
  generateContent: () => generateEvents({ model: 'ours', seal, thinks: true }),
}

interface Stream {
  readonly dialect: string
  readonly door: string
  /** Whether events may repeat. */
  readonly repeats: boolean
}

const streamOf = ({ dialect, door, repeats }: Stream) => {
  const reader = readers[dialect]!(dialect === door)
  const { again, ...writer } = writers[door]!()
  const events = { reads: 0 }
  const counting: WireEvents = {
    ...reader,
    read: (bytes, into) => {
      events.reads++
      return reader.read(bytes, into)
    },
  }
  const wire = { events: () => counting } as unknown as ChatWire
  const soFar = { text: '', thinking: false, call: null, usage: null } as never
  const stream = new DialectEvents(wire, repeats && again ? { ...writer, again } : writer, 1, soFar)
  return { stream, events }
}

/** All that the caller gets of these parts, and what the gateway knows of it. */
const relayed = (given: Stream, parts: readonly Buffer[]) => {
  const { stream, events } = streamOf(given)
  let out = ''
  for (const part of parts) if (!stream.isEnded) out += stream.read(part, 200)
  if (!stream.isEnded) stream.cut(200)
  out += stream.finish()
  const { characters, soFar, unfinished, fault, speaks } = stream
  return { told: { out, characters, soFar, unfinished, fault, speaks }, reads: events.reads }
}

/** The bytes in parts of any length. */
const torn = (bytes: Buffer): readonly Buffer[] => {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const to = at + 1 + below(pick([3, 90, 900]))
    parts.push(bytes.subarray(at, to))
    at = to
  }
  return parts
}

for (const dialect of Object.keys(streams))
  for (const door of Object.keys(writers))
    t.test(`${dialect} at the door of ${door}: repeated events go out as if each were read`, async (t) => {
      for (let round = 0; round < 12; round++) {
        const events = streams[dialect]!(wordsOf)
        const bytes = Buffer.from(events.join(''))
        const { told } = relayed({ dialect, door, repeats: false }, [bytes])
        t.equal(told.fault, null, `${String(told.fault)}, seed ${seed}`)
        const one = relayed(
          { dialect, door, repeats: true },
          events.map((event) => Buffer.from(event)),
        )
        t.same(one.told, told, `an event in each part, seed ${seed}`)
        t.same(relayed({ dialect, door, repeats: true }, torn(bytes)).told, told, `torn anywhere, seed ${seed}`)
        t.same(relayed({ dialect, door, repeats: true }, [bytes]).told, told, `all at once, seed ${seed}`)
      }
    })

/** Of each pair: how few of the events are read at most, where texts differ alone. */
const few: readonly (readonly [dialect: string, door: string])[] = [
  ['chat', 'chat'],
  ['chat', 'Messages'],
  ['chat', 'generateContent'],
  ['chat', 'Responses'],
  ['padded', 'chat'],
  ['padded', 'Responses'],
  ['Messages', 'Messages'],
  ['Messages', 'chat'],
  ['Messages', 'Responses'],
  ['Responses', 'Responses'],
]

t.test('most events of a stream are never parsed', async (t) => {
  for (const [dialect, door] of few) {
    const events = streams[dialect]!(() => ` word${below(99)}`).map((event) => Buffer.from(event))
    const { reads } = relayed({ dialect, door, repeats: true }, events)
    t.ok(reads < events.length * 0.55, `${dialect} at ${door}: ${reads} of ${events.length} events`)
  }
})

t.test('a text with quotes goes on as it came', async (t) => {
  const events = streams['Responses']!(() => ` the "word" ${below(99)}`).map((event) => Buffer.from(event))
  const { reads } = relayed({ dialect: 'Responses', door: 'Responses', repeats: true }, [
    ...streams['Responses']!(() => ' word')
      .slice(0, 4)
      .map((event) => Buffer.from(event)),
    ...events.slice(4),
  ])
  t.ok(reads < 10, `${reads} of ${events.length} events`)
})

t.test('a stream that nothing is learned from is read part by part', async (t) => {
  let number = 0
  const events = Array.from({ length: count }, () => chunk({ content: `word${number}` }, { logprobs: number++ }))
  const { reads } = relayed({ dialect: 'chat', door: 'chat', repeats: true }, [
    ...events.slice(0, 20).map((event) => Buffer.from(event)),
    Buffer.from(events.slice(20).join('') + 'data: [DONE]\n\n'),
  ])
  t.equal(reads, 21)
})

t.test('empty lines and comments between events say nothing', async (t) => {
  for (let round = 0; round < 12; round++) {
    const events = streams['chat']!(wordsOf)
    const spaced = events.map((event) => event + pick(['', '\n', '\n\n', '\n\n\n', ': waiting\n\n']))
    const bytes = Buffer.from(spaced.join(''))
    const given = { dialect: 'chat', door: 'chat', repeats: true }
    const { told } = relayed(given, [Buffer.from(events.join(''))])
    t.same(relayed(given, [bytes]).told, told, `all at once, seed ${seed}`)
    t.same(
      relayed(
        given,
        spaced.map((event) => Buffer.from(event)),
      ).told,
      told,
      `an event in each part, seed ${seed}`,
    )
    t.same(relayed(given, torn(bytes)).told, told, `torn anywhere, seed ${seed}`)
  }
})

t.test('lines that end otherwise are for the reader', async (t) => {
  for (const end of ['\r\n', '\r']) {
    const events = streams['chat']!(wordsOf).map((event) => event.replaceAll('\n', end))
    const given = { dialect: 'chat', door: 'chat' }
    const [bytes, parts] = [Buffer.from(events.join('')), events.map((event) => Buffer.from(event))]
    t.same(relayed({ ...given, repeats: true }, parts).told, relayed({ ...given, repeats: false }, [bytes]).told)
  }
})

t.test('what has the shape of an event but is none is a fault', async (t) => {
  const good = Array.from({ length: 6 }, () => chunk({ content: 'word' }))
  for (const [broken, why] of [
    ['wo\\qrd', 'no escape'],
    ['wo\u0001rd', 'a control character'],
    ['wo\\u12', 'half an escape'],
  ] as const) {
    const strange = good[0]!.replace('word', broken)
    const { stream } = streamOf({ dialect: 'chat', door: 'chat', repeats: true })
    for (const event of [...good, strange]) stream.read(Buffer.from(event), 200)
    t.not(stream.fault, null, why)
  }
  const { stream } = streamOf({ dialect: 'chat', door: 'chat', repeats: true })
  const cut = Buffer.from(good[0]!.replace('word', 'wo\u00e9'), 'latin1')
  let out = ''
  for (const event of [...good.map((event) => Buffer.from(event)), cut]) out = stream.read(event, 200)
  t.ok(Buffer.from(out, 'latin1').includes('wo\ufffd'), 'bytes that are no text are replaced, as ever')
})

t.test('an event of the dialect ends what repeats', async (t) => {
  const pushed: DialectEvent[] = []
  const writer = messageEvents('ours', seal)
  const into = { push: (event: DialectEvent) => void pushed.push(event) }
  const say = (delta: Readonly<Record<string, string>>) =>
    writer.take(
      { id: 'c', object: 'o', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] },
      into,
    )
  say({ content: 'a' })
  t.equal(writer.again(), false, 'the first text began its block')
  say({ content: 'b' })
  t.equal(writer.again(), true)
  say({ reasoning_content: 'c' })
  t.equal(writer.again(), false, 'thoughts are kept for their signature')
})
