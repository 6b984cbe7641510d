import './fakes/unwatched.ts'
import t from 'tap'
import { forgetPeak } from './lab/hunt/processes.ts'
import { passes, played } from './hostile/scene.ts'
import { scenes } from './hostile/scenes.ts'
import { type Stage, openStage } from './lab/hunt/stage.ts'

const skip = forgetPeak(process.pid) ? false : 'the system does not tell what a process takes'

let stage: Stage | null = null
let another: Promise<Stage> | null = null
const twin = () => (another ??= openStage())
t.teardown(() => stage?.close())
t.teardown(async () => (await another)?.close())

for (const scene of scenes.filter(({ short }) => short)) {
  t.test(scene.name, { skip }, async (t) => {
    // One gateway for all of them, as long as it stands.
    stage ??= await openStage()
    for (const figure of await played(scene, stage, twin, false)) {
      const { name, value, most } = figure
      t.ok(passes(figure), `${name}: ${value.toFixed(0)}, at most ${most.toFixed(0)}`)
    }
    if (stage.fallen() === null) return
    await stage.close()
    stage = null
  })
}
