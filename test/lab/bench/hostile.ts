import { parseArgs } from 'node:util'
import { type Figure, passes, played } from '../../hostile/scene.ts'
import { scenes } from '../../hostile/scenes.ts'
import { type Stage, openStage } from '../hunt/stage.ts'
import { demandQuiet, isQuiet } from './quiet.ts'

/** `npm run bench:hostile [-- --force] [part of a name …]`: what somebody hostile can do to a gateway and its enclave. */
const { values, positionals } = parseArgs({ options: { force: { type: 'boolean' } }, allowPositionals: true })

await demandQuiet(values.force === true)

const said = (figure: Figure): string =>
  `  ${figure.name}: ${figure.value.toFixed(figure.value < 10 && !Number.isInteger(figure.value) ? 1 : 0)} (at most ${figure.most.toFixed(0)})${passes(figure) ? '' : '  BEYOND'}`

let beyond = 0
for (const scene of scenes) {
  if (positionals.length > 0 && !positionals.some((part) => scene.name.includes(part))) continue
  // A gateway of its own: no scene pays for what another left.
  const quiet = await isQuiet()
  const stage = await openStage()
  let another: Promise<Stage> | null = null
  const figures = await played(scene, stage, () => (another ??= openStage()), quiet)
  await Promise.all([stage.close(), (another as Promise<Stage> | null)?.then(({ close }) => close())])
  console.log(scene.name)
  for (const figure of figures) console.log(said(figure))
  beyond += figures.filter((figure) => !passes(figure)).length
}
console.log(beyond === 0 ? 'all within their bounds' : `${beyond} beyond their bounds`)
process.exit(beyond === 0 ? 0 : 1)
