import t from 'tap'
import { system } from '../../../../adapters/memory/platform.ts'
import type { Answer } from '../../../../core/ports/platform.ts'
import { itemsBy, unpackedEvents } from '../../../../plugins/providers/shared/event-items.ts'
import { turnsDuring } from '../../../turns-during.ts'

const event = `data: ${'a'.repeat(100)}\n\n`

/** The turns of the loop while a stream is read whose parts are all there. */
const turnsFor = async (eventsInPart: number, parts: number) => {
  const part = Buffer.from(event.repeat(eventsInPart))
  const body = (async function* () {
    for (let at = 0; at < parts; at++) yield part
    yield Buffer.from('data: end\n\n')
  })()
  const answer = { body, status: 200, header: () => null, discard() {} } as unknown as Answer
  const read = unpackedEvents<string>(
    ({ data }, into) => into.push(data) > 0 && data === 'end',
    () => undefined,
  )
  let items = 0
  const turns = await turnsDuring(async () => {
    for await (const _ of itemsBy(answer, system.clock, read)) items++
  })
  return { turns, items }
}

t.test('a turn of the loop reads one long part of a stream', async (t) => {
  const long = await turnsFor(500, 20)
  t.equal(long.items, 500 * 20 + 1)
  t.ok(long.turns >= 20, `${long.turns} turns`)
})

t.test('many short parts wait for a turn as well, and a few for none', async (t) => {
  const many = await turnsFor(1, 10_000)
  t.equal(many.items, 10_000 + 1)
  t.ok(many.turns >= 40 && many.turns < 100, `${many.turns} turns`)
  const few = await turnsFor(1, 100)
  t.equal(few.items, 100 + 1)
  t.equal(few.turns, 0)
})
