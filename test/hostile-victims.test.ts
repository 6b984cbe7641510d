import './fakes/unwatched.ts'
import t from 'tap'
import { passes, played } from './hostile/scene.ts'
import { victims } from './hostile/victims.ts'
import { forgetPeak } from './lab/hunt/processes.ts'
import { type Stage, openStage } from './lab/hunt/stage.ts'

const skip = forgetPeak(process.pid) ? false : 'the system does not tell what a process takes'

const stages: Promise<Stage>[] = []
t.teardown(async () => Promise.all((await Promise.all(stages)).map((stage) => stage.close())))

for (const scene of victims)
  t.test(scene.name, { skip }, async (t) => {
    if (stages.length === 0) stages.push(openStage(), openStage())
    const [stage, twin] = (await Promise.all(stages)) as [Stage, Stage]
    for (const figure of await played(scene, stage, async () => twin, false)) {
      const { name, value, most } = figure
      t.ok(passes(figure), `${name}: ${value.toFixed(0)}, at most ${most.toFixed(0)}`)
    }
  })
