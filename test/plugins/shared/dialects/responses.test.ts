import t from 'tap'
import type { DialectEvent } from '../../../../core/dialects/event.ts'
import { responseEvents } from '../../../../plugins/shared/dialects/responses/events.ts'

const seal = { seal: (text: string) => text, open: (text: string) => text }
const likely = [' a', ' "b"', ' é'].map((token, at) => ({ token, logprob: -at, bytes: [32, 97 + at] }))

const chunk = (content: string, odds: boolean) => ({
  ...{ id: 'c', object: 'chat.completion.chunk' as const, created: 1, model: 'm' },
  choices: [
    {
      ...{ index: 0, delta: { content }, finish_reason: null },
      ...(odds && { logprobs: { content: [{ ...likely[0], top_logprobs: likely }] } }),
    },
  ],
})

const writerOf = () => {
  const request = { model: 'ours', input: 'Hello' } as never
  return responseEvents({ request, model: 'ours', seal, created: 1, now: () => 2, id: (kind) => `${kind}_1` })
}

/** The events of a stream of so many chunks, with or without the odds of their words. */
const eventsOf = (count: number, odds: boolean) => {
  const events: DialectEvent[] = []
  const writer = writerOf()
  for (let at = 0; at < count; at++) writer.take(chunk(`w${at} `, odds), events)
  writer.end(events)
  return events.map(({ data }) => JSON.parse(data))
}

t.test('each event at the end of a stream tells the odds that came with its words', async (t) => {
  // The second stream is longer than what is printed at once.
  for (const count of [1, 3_000]) {
    const odds = Array.from({ length: count }, () => ({ ...likely[0], top_logprobs: likely }))
    const events = eventsOf(count, true)
    const find = (type: string) => events.find((event) => event.type === type)
    const message = [{ content: [{ logprobs: odds }] }]
    t.match(find('response.output_text.delta'), { logprobs: odds.slice(0, 1) })
    t.same(find('response.output_text.done').logprobs, odds)
    t.match(find('response.content_part.done'), { part: { logprobs: odds } })
    t.match(find('response.output_item.done'), { item: message[0] })
    t.match(find('response.completed'), { response: { output: message } })
    const withoutOdds = eventsOf(count, false).find(({ type }) => type === 'response.completed')
    t.match(withoutOdds, { response: { output: [{ content: [{ logprobs: [] }] }] } })
  }
})

t.test('the end of a stream reads no odds again: they are long, and four events tell them', (t) => {
  let reads = 0
  const other = {
    get token() {
      reads++
      return ' a'
    },
  }
  const writer = writerOf()
  const { choices, ...head } = chunk('a', true)
  // The list is longer than what is printed at once.
  const logprobs = { content: Array.from({ length: 3_000 }, () => ({ ...likely[0], top_logprobs: [other] })) }
  writer.take({ ...head, choices: choices.map((choice) => ({ ...choice, logprobs })) }, [])
  const readBefore = reads
  t.ok(readBefore > 0, 'the event of the words tells the odds')
  const events: DialectEvent[] = []
  writer.end(events)
  t.equal(events.filter(({ data }) => data.includes('[{"token":" a"}]')).length, 4)
  t.equal(reads, readBefore)
  t.end()
})

t.test('the memory of an answer holds no odds', async (t) => {
  const { response } = eventsOf(2, true).at(-1)
  const { id } = response.output.at(-1)
  t.match(id, /^rs_sealgate_.*w0 w1/)
  t.notMatch(id, 'top_logprobs')
})
