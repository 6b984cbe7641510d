import { drilledBackend, startDrilled } from '../../adapters/drill/drilled-gateway.ts'
import { type Act, type Result, type StartGateway, playActs } from '../../adapters/drill/play-acts.ts'
import { type Scene, scenes } from '../../adapters/drill/scenes.ts'
import { type Tongue, chat } from '../../adapters/drill/tongue.ts'
import { type Wording, chatWording } from '../../adapters/drill/written-answer.ts'
import { use } from '../../core/plugin.ts'
import type { ModelInput, SettingsInput } from '../../core/settings.ts'
import openai from '../../plugins/providers/openai.ts'
import { slowness } from '../slowness.ts'
import { responsesWording } from './responses-wording.ts'

/** Ms that a first token may come later than its time on a quiet machine. */
const spare = 3_000

/** More spare time would keep the drill for minutes. */
export const mostSlow = 3

/** Ms that no scene reaches whose backend is not silent. */
const ages = 600_000

/** Ms beyond its time that a late first token waits for the signs of life before it. */
export const late = 2_000

/** Ms of a quiet machine after which a call counts as hung: later than its first token may come. */
export const patienceFor = (pace: number, slow: number): number => 5_000 + 85_000 * pace + spare * (slow - 1)

/** A scene counts as endless after so many ms of a quiet machine. */
const longest = 90_000

/**
 * Waits as the real ones, at `pace`; the silence before a first token is shortened, so that the drill ends within a
 * minute. A machine that is `slow` times as busy as a quiet one has so many times the spare time before a first token.
 */
export const settingsFor = (pace: number, slow = 1): SettingsInput => {
  const ms = (full: number) => Math.max(1, Math.round(full * pace))
  return {
    models: Object.fromEntries(
      scenes.map(({ name, continues, refused }) => [
        name,
        {
          ...(continues && { continues }),
          upstreams: [...(refused ? [{ provider: 'dead', priority: 1 }] : []), { provider: 'faulty', priority: 2 }],
        },
      ]),
    ),
    timeouts: {
      firstToken: ms(25_000) + Math.round(spare * slow),
      idle: ms(15_000),
      stalled: ms(30_000),
      heartbeat: ms(5_000),
    },
  }
}

/** The same, but no limit in ms ends a stream: what a scene is told follows from what its backend does alone. */
const untimed = (settings: SettingsInput): SettingsInput => ({
  ...settings,
  timeouts: { ...settings.timeouts, firstToken: ages, idle: ages, stalled: ages },
})

/** How slow the machine is just now, as far as the spare time of a drill follows it. */
export const slowNow = (): number => Math.min(mostSlow, slowness())

/**
 * Scenes at once: none may disturb another. Those whose backend or reader is silent play behind all others. Two drills
 * whose times are compared are as `slow` as each other.
 */
export const drill = async (
  start: StartGateway,
  pace = 1,
  tongue: Tongue = chat,
  played: readonly Scene[] = scenes,
  wordings?: readonly Wording[],
  slow = slowNow(),
): Promise<readonly Result[]> => {
  const silent = settingsFor(pace, slow)
  const acts: readonly Act[] = [
    { settings: untimed(silent), scenes: played.filter((scene) => scene.silent !== true) },
    { settings: silent, scenes: played.filter((scene) => scene.silent === true) },
  ]
  const company = {
    start,
    tongue,
    ...(wordings && { wordings }),
    pace,
    late,
    stalled: 30_000 * pace,
    most: patienceFor(pace, slow),
    longest,
  }
  const results = new Map<Scene, Result>()
  await playActs(acts, { ...company, slow: slowness }, (result) => void results.set(result.scene, result))
  return played.flatMap((scene) => results.get(scene) ?? [])
}

/** Ours, listening on a free port. */
export const startOurs: StartGateway = async (faulty, dead, settings) =>
  startDrilled([drilledBackend('faulty', faulty, true), drilledBackend('dead', dead, false)], settings)

/** The same before a backend that speaks Responses alone; one of chat completions goes on where a stream breaks. */
export const startResponses: StartGateway = async (faulty, dead, settings) => {
  const rescuer = { provider: 'rescuer', priority: 3 }
  const models = Object.entries((settings.models ?? {}) as Record<string, ModelInput>).map(([name, model]) => [
    name,
    { ...model, upstreams: [...model.upstreams, ...(model.continues ? [rescuer] : [])] },
  ])
  const upstreams = [
    use(openai, { baseUrl: faulty, api: 'responses' }, 'faulty'),
    use(openai, { baseUrl: dead, api: 'responses' }, 'dead'),
    drilledBackend('rescuer', faulty, true),
  ]
  return startDrilled(upstreams, { ...settings, models: Object.fromEntries(models) })
}

/** The wordings of the first backend and of the backend that continues its stream. */
export const responsesWordings: readonly Wording[] = [responsesWording, chatWording]

export const scorecard = (results: readonly Result[]): string => {
  const lines = results.map(
    ({ scene, mark, note }) => `${scene.name}  ${mark.padEnd(8)}${scene.title}${note && ` (${note})`}`,
  )
  const marks = ['pass', 'partial', 'safe', 'fail'].map(
    (mark) => `${results.filter((result) => result.mark === mark).length} ${mark}`,
  )
  return `${lines.join('\n')}\n\n${marks.join(' · ')}\n`
}
