import t from 'tap'
import { system } from '../../../../adapters/memory/platform.ts'
import type { Answer } from '../../../../core/ports/platform.ts'
import { itemsBy, unpackedEvents } from '../../../../plugins/providers/shared/event-items.ts'

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
  let [turns, items, goes] = [0, 0, true]
  const turn = (): void => {
    turns++
    if (goes) setImmediate(turn)
  }
  setImmediate(turn)
  for await (const _ of itemsBy(answer, system.clock, read)) items++
  goes = false
  return { turns, items }
}

t.test('a turn of the loop reads one long part of a stream', async (t) => {
  const long = await turnsFor(500, 20)
  t.equal(long.items, 500 * 20 + 1)
  t.ok(long.turns >= 20, `${long.turns} turns`)
})

t.test('short parts wait for no turn', async (t) => {
  const short = await turnsFor(20, 20)
  t.equal(short.items, 20 * 20 + 1)
  t.ok(short.turns < 5, `${short.turns} turns`)
})
