import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { memory } from '../../adapters/memory/index.ts'
import { fetch } from '../../adapters/production/platform.ts'
import { createGateway } from '../../core/gateway.ts'
import { use } from '../../core/plugin.ts'
import type { SettingsInput } from '../../core/settings.ts'
import openai from '../../plugins/providers/openai.ts'
import { call, type Target } from './client.ts'
import { chat, type Tongue } from './tongues.ts'
import { deadUrl, startProvider } from './provider.ts'
import { slowness } from '../slowness.ts'
import { patience, scenes, type Scene, type Stage, type Verdict } from './scenes.ts'

export interface Result extends Verdict {
  readonly scene: Scene
}

/** A gateway whose models have the names of the scenes; given the two backends' addresses. */
export type StartGateway = (
  faulty: string,
  dead: string,
  settings: SettingsInput,
) => Promise<{ target: Omit<Target, 'tongue'>; close(): Promise<void> }>

/** Ms that a first token may come later than its time on a quiet machine. */
const spare = 3_000

/** More spare time would keep the drill for minutes. */
const mostSlow = 3

/** Ms that no scene reaches whose backend is not silent. */
const ages = 600_000

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

/** Scenes at once: none may disturb another. Those whose backend or reader is silent play behind all others. */
export const drill = async (
  start: StartGateway,
  pace = 1,
  tongue: Tongue = chat,
  played: readonly Scene[] = scenes,
): Promise<readonly Result[]> => {
  const provider = await startProvider(pace)
  const silent = settingsFor(pace, Math.min(mostSlow, slowness()))
  const results = new Map<Scene, Result>()
  try {
    for (const [settings, isIts] of [
      [untimed(silent), (scene: Scene) => scene.silent !== true],
      [silent, (scene: Scene) => scene.silent === true],
    ] as const) {
      const gateway = await start(provider.url, await deadUrl(), settings)
      const stage: Stage = { target: { ...gateway.target, tongue }, provider, pace, stalled: 30_000 * pace }
      try {
        // The first call of a process compiles what all others run.
        await call(stage.target, 'S13', 'before all', false, patience(pace))
        await Promise.all(
          played.filter(isIts).map(async (scene) => results.set(scene, { scene, ...(await playedOut(scene, stage)) })),
        )
      } finally {
        await gateway.close()
      }
    }
    return played.flatMap((scene) => results.get(scene) ?? [])
  } finally {
    await provider.close()
  }
}

const playedOut = async (scene: Scene, stage: Stage): Promise<Verdict> => {
  try {
    return await Promise.race([scene.play(stage), hanging()])
  } catch (error) {
    return { mark: 'fail', note: String(error) }
  }
}

/** Ms of a quiet machine after which a scene counts as one that never ends. */
const longestMs = 90_000

const hanging = async (): Promise<Verdict> => {
  const began = performance.now()
  for (let left = longestMs; left > 0; left = longestMs * slowness() - (performance.now() - began))
    await sleep(left, undefined, { ref: false })
  return { mark: 'fail', note: `no end in ${longestMs} ms` }
}

/** Ours, listening on a free port. */
export const startOurs: StartGateway = async (faulty, dead, settings) => {
  const gateway = createGateway(
    {
      ...memory(),
      fetch: use(fetch),
      upstreams: [
        use(openai, { baseUrl: faulty, continuation: { continue_final_message: true } }, 'faulty'),
        use(openai, { baseUrl: dead }, 'dead'),
      ],
    },
    settings,
  )
  const { credential } = await gateway.keys.create({ name: 'drill' })
  const server = createServer(gateway.listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    target: { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: credential },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await gateway.close()
    },
  }
}

export const scorecard = (results: readonly Result[]): string => {
  const lines = results.map(
    ({ scene, mark, note }) => `${scene.name}  ${mark.padEnd(8)}${scene.title}${note && ` (${note})`}`,
  )
  const marks = ['pass', 'partial', 'safe', 'fail'].map(
    (mark) => `${results.filter((it) => it.mark === mark).length} ${mark}`,
  )
  return `${lines.join('\n')}\n\n${marks.join(' · ')}\n`
}
