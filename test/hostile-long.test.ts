import './fakes/unwatched.ts'
import t from 'tap'
import { passes, played } from './hostile/scene.ts'
import { scenes } from './hostile/scenes.ts'
import { forgetPeak } from './lab/hunt/processes.ts'
import { openStage } from './lab/hunt/stage.ts'

const skip = forgetPeak(process.pid) ? false : 'the system does not tell what a process takes'

for (const scene of scenes.filter(({ only }) => only === 'long')) {
  t.test(scene.name, { skip }, async (t) => {
    // A gateway of its own: a scene pays for nothing that another one left.
    const stage = await openStage()
    t.teardown(() => stage.close())
    for (const { name, value, most } of await played(scene, stage, async () => stage, false))
      t.ok(passes({ name, value, most }), `${name}: ${value.toFixed(0)}, at most ${most.toFixed(0)}`)
  })
}
