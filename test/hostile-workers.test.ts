import './fakes/unwatched.ts'
import t from 'tap'
import { passes, played } from './hostile/scene.ts'
import { victims } from './hostile/victims.ts'
import { startRedis } from './fakes/redis.ts'
import { lifted } from './lab/hunt/configuration.ts'
import { forgetPeak } from './lab/hunt/processes.ts'
import { openStage } from './lab/hunt/stage.ts'

const redis = await startRedis({ steer: true })
t.teardown(() => redis?.close())
const skip = redis === null ? 'no redis-server here' : !forgetPeak(process.pid) && 'the system does not tell it'

t.test('somebody else waits for no attacker, with Redis and two workers', { skip }, async (t) => {
  const limits = { ...lifted(), redis: redis?.url }
  const open = () => openStage({ limits }, ['serve', '--workers', '2'])
  const [stage, twin] = [await open(), await open()]
  t.teardown(() => Promise.all([stage.close(), twin.close()]))
  for (const scene of victims)
    for (const figure of await played(scene, stage, async () => twin, false))
      t.ok(
        passes(figure),
        `${scene.name}: ${figure.name}: ${figure.value.toFixed(0)}, at most ${figure.most.toFixed(0)}`,
      )
})
