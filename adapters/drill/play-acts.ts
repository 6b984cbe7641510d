import { setTimeout as sleep } from 'node:timers/promises'
import type { SettingsInput } from '../../core/settings.ts'
import { type Patience, type Target, call } from './client.ts'
import type { Tempo } from './plays.ts'
import { deadUrl, startProvider } from './provider.ts'
import type { Played, Scene, Stage } from './scenes.ts'
import type { Tongue } from './tongue.ts'
import type { Wording } from './written-answer.ts'

/** What a scene came to, with the scene itself, so that a report can name its title. */
export interface Result extends Played {
  readonly scene: Scene
}

/** A gateway whose models have the names of the scenes; given the two backends' addresses. */
export type StartGateway = (
  faulty: string,
  dead: string,
  settings: SettingsInput,
) => Promise<{ readonly target: Omit<Target, 'tongue'>; close(): Promise<void> }>

/** Scenes that are played at once, at a gateway of their own. */
export interface Act {
  readonly settings: SettingsInput
  readonly scenes: readonly Scene[]
}

/**
 * What stays the same in all acts: the way to start a gateway, the dialect, and the time that a call gets.
 */
export interface Company extends Tempo, Patience, Pick<Stage, 'stalled'> {
  readonly start: StartGateway
  readonly tongue: Tongue
  /** The dialects of the backend; that of chat completions when absent. */
  readonly wordings?: readonly Wording[]
  /** A scene counts as endless after so many ms of a quiet machine. */
  readonly longest: number
}

/** Plays act after act. `told` hears each result as it comes. */
export const playActs = async (
  acts: readonly Act[],
  { start, tongue, wordings, ...company }: Company,
  told: (result: Result) => void,
): Promise<void> => {
  const provider = await startProvider(company, wordings)
  try {
    for (const { settings, scenes } of acts) {
      if (scenes.length === 0) continue
      const gateway = await start(provider.url, await deadUrl(), settings)
      const stage: Stage = { ...company, provider, target: { ...gateway.target, tongue } }
      try {
        // The first call of a process compiles what all others run.
        await call(stage.target, 'S13', 'before all', false, stage)
        const played = async (scene: Scene) => told({ scene, ...(await playedOut(scene, stage, company.longest)) })
        await Promise.all(scenes.map(played))
      } finally {
        await gateway.close()
      }
    }
  } finally {
    await provider.close()
  }
}

/** A scene that throws or never ends counts as failed, and the other scenes of the act go on. */
const playedOut = async (scene: Scene, stage: Stage, longest: number): Promise<Played> => {
  try {
    return await Promise.race([scene.play(stage), hanging(stage, longest)])
  } catch (error) {
    return unplayed(String(error))
  }
}

const unplayed = (note: string): Played => ({ mark: 'fail', note, sight: null, attempts: 0 })

/** The wait grows with the load of the machine, so that a busy machine fails no scene. */
const hanging = async ({ slow }: Patience, longest: number): Promise<Played> => {
  const began = performance.now()
  for (let left = longest; left > 0; left = longest * slow() - (performance.now() - began))
    await sleep(left, undefined, { ref: false })
  return unplayed(`no end in ${longest} ms`)
}
