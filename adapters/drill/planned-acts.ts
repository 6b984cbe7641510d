import type { DrillPlan, DrilledLink } from '../../plugins/surfaces/admin/drill.ts'
import type { SettingsInput } from '../../core/settings.ts'
import type { Act } from './play-acts.ts'
import type { SceneHead } from './scene-list.ts'
import { scenes } from './scenes.ts'

/** The backend of the drill at this place of the chain. */
export const placeName = (place: number): string => `place-${place}`

/** The name of a backend whose address refuses connections; it stands first in scenes about refusals. */
export const refusing = 'refusing'

/** Silence is played at a tenth of its length, or in less where the configuration waits for long. */
const usualPace = 0.1
const leastPace = 0.02
/** Ms of the drill that one silence may take. */
const longestSilence = 12_000

/** How many ms of the drill stand for one of the configuration. */
export const paceOf = ({ timeouts: { total, firstToken, idle, stalled } }: DrillPlan): number =>
  Math.max(leastPace, Math.min(usualPace, longestSilence / Math.max(total, firstToken, idle, stalled)))

/** The first backend of a scene may refuse connections; the rest of the chain comes behind it. */
const upstreamsOf = (chain: readonly DrilledLink[], { refused }: SceneHead) =>
  chain.map(({ priority, weight }, place) =>
    refused === true
      ? { provider: place === 0 ? refusing : placeName(place), priority: place === 0 ? 1 : priority + 1, weight }
      : { provider: placeName(place), priority, weight },
  )

/** Each scene has a model of its own name, since the model's name tells the backend which fault to play. */
const modelsOf = ({ chain, continues }: DrillPlan): SettingsInput['models'] =>
  Object.fromEntries(
    scenes.map((scene) => [
      scene.name,
      { continues: continues && scene.continues !== false, upstreams: upstreamsOf(chain, scene) },
    ]),
  )

/** The configuration's waits at the pace of the drill. */
const paced = ({ timeouts, routing }: DrillPlan, pace: number): Pick<SettingsInput, 'timeouts' | 'routing'> => {
  const ms = (full: number): number => Math.max(1, Math.round(full * pace))
  const { total, firstToken, idle, stream, stalled, heartbeat } = timeouts
  const { breaker, hedge } = routing
  return {
    timeouts: {
      ...timeouts,
      total: ms(total),
      firstToken: ms(firstToken),
      idle: ms(idle),
      stream: ms(stream),
      stalled: ms(stalled),
      heartbeat: ms(heartbeat),
    },
    routing: {
      ...routing,
      breaker: { ...breaker, rest: ms(breaker.rest) },
      hedge: hedge && { ...hedge, after: ms(hedge.after) },
    },
  }
}

/** Scenes without a silence meet the configuration as it is; the others meet it at the pace of the drill. */
export const plannedActs = (plan: DrillPlan, names: readonly string[]): readonly Act[] => {
  const { timeouts, routing } = plan
  const settings: SettingsInput = { surfaces: ['chat'], models: modelsOf(plan) }
  const wanted = scenes.filter(({ name }) => names.includes(name))
  return [
    { settings: { ...settings, timeouts, routing }, scenes: wanted.filter(({ silent }) => silent !== true) },
    { settings: { ...settings, ...paced(plan, paceOf(plan)) }, scenes: wanted.filter(({ silent }) => silent === true) },
  ]
}
