import './fakes/unwatched.ts'
import t from 'tap'
import { passes, played } from './hostile/scene.ts'
import { scenes } from './hostile/scenes.ts'
import { forgetPeak } from './lab/hunt/processes.ts'
import { type Stage, openStage } from './lab/hunt/stage.ts'

const skip = forgetPeak(process.pid) ? false : 'the system does not tell what a process takes'

let stage: Stage | null = null
t.teardown(() => stage?.close())

for (const scene of scenes.filter(({ only }) => only === 'long')) {
  t.test(scene.name, { skip }, async (t) => {
    stage ??= await openStage()
    const own = stage
    for (const { name, value, most } of await played(scene, own, async () => own, false))
      t.ok(passes({ name, value, most }), `${name}: ${value.toFixed(0)}, at most ${most.toFixed(0)}`)
    if (own.fallen() === null) return
    await own.close()
    stage = null
  })
}
