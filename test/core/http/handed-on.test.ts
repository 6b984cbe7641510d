import type { ServerResponse } from 'node:http'
import t from 'tap'
import { handOn } from '../../../core/http/backpressure.ts'
import { fakeClock } from '../../fakes/clock.ts'
import { turnsDuring } from '../../turns-during.ts'

t.test('others have their turn while a fast reader takes a long part', async (t) => {
  let taken = 0
  const response = { destroyed: false, write: (part: Uint8Array) => (taken += part.length) > 0 }
  const patience = { clock: fakeClock(), stalled: 1_000 }
  const part = new Uint8Array(4 * 1024 * 1024)
  const turns = await turnsDuring(async () => handOn(response as unknown as ServerResponse, part, patience))
  t.equal(taken, 4 * 1024 * 1024)
  t.ok(turns >= 7, `${turns} turns`)
})
