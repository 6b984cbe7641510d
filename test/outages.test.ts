import './fakes/unwatched.ts'
import t from 'tap'
import { drill } from './outages/drill.ts'
import { slack, told } from './outages/scene.ts'
import { setStage } from './outages/stage.ts'
import { isWhole, seed } from './whole.ts'

t.setTimeout(175_000)
const stage = await setStage()
if (stage !== null) t.teardown(stage.close)

t.test('whatever is away', { skip: stage === null && 'a server is not installed', timeout: 170_000 }, async (t) => {
  t.comment(isWhole ? 'every scene' : `SEALGATE_SEED=${seed}: every other scene`)
  const outages = drill(stage!, 4_000, isWhole)
  let step = await outages.next()
  for (; !step.done; step = await outages.next()) {
    const { scene, seen } = step.value
    await t.test(scene.name, async (t) => {
      t.comment(told(seen))
      t.same(seen.wrong, [], 'only what is declared')
      const [median, most] = seen.added.map(Math.round) as [number, number]
      // A busy machine is allowed for by its own stalls, of which a call may meet several: `npm run bench` has the figures of a quiet one.
      const stall = Math.ceil(seen.stall)
      t.ok(median <= scene.added + stall, `${median} of ${scene.added} + ${stall} ms added to half of them`)
      t.ok(most <= scene.added + 3 * stall, `${most} of ${scene.added} + 3 × ${stall} ms to nineteen of twenty`)
      // A call that came in time may end later; one that comes later and is refused stands in `wrong`.
      const end = scene.recovery + slack + 3 * stall
      t.ok(seen.recovery <= end, `${seen.recovery.toFixed(0)} of ${end} ms until the last refused call ended`)
    })
  }

  const { files, usage, places, requests, sockets } = step.value
  t.comment(JSON.stringify(step.value))
  t.ok(files.acknowledged > (isWhole ? 50 : 10), `${files.acknowledged} files were acknowledged`)
  t.same([files.lost, files.hollow], [0, 0], 'all of them are there, and none without its bytes')
  t.ok(usage.acknowledged > (isWhole ? 200 : 40), `${usage.acknowledged} calls of models were acknowledged`)
  t.same([usage.counted, usage.byTokens], [usage.acknowledged, usage.acknowledged], 'each is counted, once')
  t.same([places, requests], [0, 0], 'nothing is held')
  t.notOk(sockets?.tooMany, 'no socket is left behind')
})
