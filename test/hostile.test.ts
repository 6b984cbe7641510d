import './fakes/unwatched.ts'
import t from 'tap'
import { forgetPeak } from './lab/hunt/processes.ts'
import { passes, played } from './hostile/scene.ts'
import { scenes } from './hostile/scenes.ts'
import { victims } from './hostile/victims.ts'
import { type Stage, openStage } from './lab/hunt/stage.ts'

const skip = forgetPeak(process.pid) ? false : 'the system does not tell what a process takes'

let stage: Stage | null = null
t.teardown(() => stage?.close())

for (const scene of scenes.filter((scene) => scene.only === undefined && !victims.includes(scene))) {
  t.test(scene.name, { skip }, async (t) => {
    // One gateway for all of them, as long as it stands.
    stage ??= await openStage()
    const own = stage
    for (const figure of await played(scene, own, async () => own, false)) {
      const { name, value, most } = figure
      t.ok(passes(figure), `${name}: ${value.toFixed(0)}, at most ${most.toFixed(0)}`)
    }
    if (own.fallen() === null) return
    await own.close()
    stage = null
  })
}
