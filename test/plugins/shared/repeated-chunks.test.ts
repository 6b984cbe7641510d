import t from 'tap'
import { chunkPrinter, chunkReader, type Parsed } from '../../../plugins/shared/repeated-chunks.ts'
import type { Chunk } from '../../../core/ports/upstream.ts'
import { chance } from '../../lab/bench/retrieval/chance.ts'

const parsed = (data: string): Chunk => {
  const chunk = JSON.parse(data) as Chunk | { readonly error: string }
  if ('error' in chunk) throw new Error(String(chunk.error))
  return chunk as Chunk
}
const parse = (data: string): Parsed => ({ chunk: parsed(data), isAsSent: true })

const print = (chunk: Chunk): string => JSON.stringify({ ...chunk, model: 'ours' })

const event = (content: string | null, more: object = {}, choice: object = {}): string =>
  JSON.stringify({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'theirs',
    choices: [{ index: 0, delta: { content }, finish_reason: null, ...choice }],
    ...more,
  })

/** What is printed for each event, and how often the JSON was parsed. */
const relayed = (events: readonly string[], printing = print) => {
  let parses = 0
  const read = chunkReader((data) => {
    parses++
    return parse(data)
  })
  const printed = chunkPrinter(printing)
  return { lines: events.map((data) => printed(read(data))), parses: () => parses }
}

const plainly = (events: readonly string[], printing = print) => events.map((data) => printing(parsed(data)))

t.test('events that differ in their text alone are parsed no more, and printed as if they were', async (t) => {
  const events = Array.from({ length: 100 }, (_, at) => event(` word${at}`))
  const { lines, parses } = relayed(events)
  t.same(lines, plainly(events))
  t.equal(parses(), 2, 'the first event, and once to be sure where its text stands')
})

t.test('padding and thoughts are relayed so, too', async (t) => {
  const padded = Array.from({ length: 50 }, (_, at) => event(`w${at}`, { obfuscation: 'x'.repeat(at % 9) }))
  t.same(relayed(padded).lines, plainly(padded))
  t.equal(relayed(padded).parses(), 2)
  const thoughts = Array.from({ length: 50 }, (_, at) => event(null, {}, { delta: { reasoning_content: `t${at}` } }))
  t.same(relayed(thoughts).lines, plainly(thoughts))
  t.equal(relayed(thoughts).parses(), 2)
})

t.test('whatever a text holds, the caller gets it unchanged', async (t) => {
  const { below } = chance(7)
  const pieces = [
    'word',
    ' ',
    '"',
    '\\',
    '\n',
    '"},"finish_reason":null}]}',
    '😀',
    'é',
    '\u2028',
    '\u0001',
    '',
    '~',
    '\\"',
  ]
  const some = () => Array.from({ length: below(4) }, () => pieces[below(pieces.length)]).join('')
  for (let stream = 0; stream < 300; stream++) {
    const events = Array.from({ length: 20 }, () =>
      below(8) === 0
        ? event(some(), { usage: { prompt_tokens: below(9) } }, { finish_reason: below(2) ? 'stop' : null })
        : event(some(), below(3) === 0 ? { obfuscation: some() } : {}),
    )
    t.same(relayed(events).lines, plainly(events))
  }
})

t.test('an event that is not of the shape is parsed, and refused when it is none', async (t) => {
  const read = chunkReader(parse)
  for (const at of [1, 2, 3]) read(event(`word${at}`))
  t.throws(() => read(event('word').slice(0, -1)), 'half a JSON')
  t.throws(() => read(event('wo"rd').replace('\\"', '"')), 'a text that ends early')
  t.throws(() => read(event('word').replace('word', 'wo\nrd')), 'a line end inside a text')
  t.throws(() => read('{"error":"broken"}'), { message: 'broken' })
})

t.test('a text is replaced in its own place alone', async (t) => {
  const twice = Array.from({ length: 9 }, (_, at) => `{"extra":{"content":"word${at}"},${event(`word${at}`).slice(1)}`)
  t.same(relayed(twice).lines, plainly(twice))
  const elsewhere = ['a', 'b', 'c'].map((word) => `{"extra":{"content":"${word}"},${event('a').slice(1)}`)
  t.same(relayed(elsewhere).lines, plainly(elsewhere))
  const two = Array.from({ length: 9 }, (_, at) =>
    event('a', {
      choices: [0, 1].map((index) => ({ index, delta: { content: `w${at}` }, finish_reason: null })),
    }),
  )
  t.same(relayed(two).lines, plainly(two))
})

t.test('a changed copy is printed as it is', async (t) => {
  const read = chunkReader(parse)
  const printed = chunkPrinter(print)
  printed(read(event('one')))
  const chunk = read(event('two'))
  t.equal(printed(chunk), print(parsed(event('two'))))
  t.match(printed({ ...chunk, id: 'other' }), '"id":"other"')
  t.match(printed({ ...chunk, choices: [] }), '"choices":[]')
})

t.test('a chunk that gives nothing to print, or prints its text twice, is printed each time', async (t) => {
  const events = Array.from({ length: 5 }, (_, at) => event(`w${at}`))
  t.same(relayed(events, () => null as never).lines, [null, null, null, null, null])
  const echo = (chunk: Chunk) => `${print(chunk)} ${print(chunk)}`
  t.same(relayed(events, echo).lines, plainly(events, echo))
})

t.test('a stream whose events never repeat a shape is only parsed after a while', async (t) => {
  const events = Array.from({ length: 50 }, (_, at) => event(`w${at}`, { at }))
  const { lines, parses } = relayed(events)
  t.same(lines, plainly(events))
  t.equal(parses(), events.length + 4)
})

t.test('a chunk goes on in its own words, unless it was changed', async (t) => {
  const own = (chunk: Chunk, json: string | null) => json ?? print(chunk)
  const spaced = Array.from({ length: 20 }, (_, at) =>
    JSON.stringify(JSON.parse(event(`w${at}`, at === 9 ? { usage: null } : {})), null, 1).replace('w1', '\\u00771'),
  )
  const read = chunkReader(parse)
  const printed = chunkPrinter(own)
  for (const data of spaced) t.equal(printed(read(data)), data)
  t.equal(printed({ ...read(spaced[3]!), id: 'other' }), print({ ...parsed(spaced[3]!), id: 'other' }))

  const mended = chunkReader((data) => ({ chunk: { ...parsed(data), more: 1 }, isAsSent: false }))
  for (const data of spaced) t.same(JSON.parse(printed(mended(data))!), { ...parsed(data), model: 'ours', more: 1 })
})
