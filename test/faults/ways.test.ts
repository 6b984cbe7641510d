import '../fakes/unwatched.ts'
import t from 'tap'
import type { Result, StartGateway } from '../../adapters/drill/play-acts.ts'
import { drilledBackend, startDrilled } from '../../adapters/drill/drilled-gateway.ts'
import { type Scene, scenes } from '../../adapters/drill/scenes.ts'
import { type Tongue, chat } from '../../adapters/drill/tongue.ts'
import { plugin, use } from '../../core/plugin.ts'
import { Random } from '../../core/ports/platform.ts'
import type { SettingsInput } from '../../core/settings.ts'
import { settled } from '../fakes/settled.ts'
import { isWhole } from '../whole.ts'
import { drill, slowNow, startOurs } from './drill.ts'
import { isExpected, sealedScenes, startSealed } from './sealed.ts'
import { sealedTongues, tongues } from './tongues.ts'

/** Slow enough that a busy machine judges no scene wrongly. */
const pace = 0.05

/** What a gateway counted of its chats. */
interface Counted {
  straight: number
  /** Chats that went the long way, by the reason. */
  readonly long: Map<string, number>
}

type Routing = NonNullable<SettingsInput['routing']>

/** Every chat that may goes straight, no chat does, and what a gateway does by itself. */
const environments = {
  straight: { straight: true },
  long: { straight: false },
  started: {},
} as const satisfies Readonly<Record<string, Routing>>

const counting = (start: StartGateway, routing: Routing, counted: Counted): StartGateway => {
  return async (faulty, dead, settings) => {
    const { target, close } = await start(faulty, dead, { ...settings, routing })
    return {
      target,
      async close() {
        const answer = await fetch(`${target.base}/metrics`, { headers: { authorization: `Bearer ${target.key}` } })
        for (const [, way, why, many] of (await answer.text()).matchAll(
          /^sealgate_straight_total\{way="(\w+)",why="(\w+)"\} (\d+)$/gm,
        )) {
          if (way === 'straight') counted.straight += Number(many)
          else counted.long.set(why!, (counted.long.get(why!) ?? 0) + Number(many))
        }
        await close()
      },
    }
  }
}

/** The scenes of one door in one environment. */
const played = async (
  tongue: Tongue,
  routing: Routing,
  start: StartGateway,
  among: readonly Scene[],
  slow = slowNow(),
) => {
  const counted: Counted = { straight: 0, long: new Map() }
  return { counted, results: await drill(counting(start, routing, counted), pace, tongue, among, undefined, slow) }
}

/** Guesses at a prompt that chance makes longer or shorter. */
const guesses = /"(prompt_tokens|input_tokens|total_tokens|promptTokenCount|totalTokenCount)":\d+/g

/** What the caller saw and what the backend was asked, without times. */
const told = ({ mark, attempts, sight }: Result) => ({
  ...{ mark, attempts, status: sight?.status, text: sight && settled(sight.raw).replace(guesses, '"$1":0') },
  ...{ finish: sight?.finish, broken: sight?.broken },
})

for (const tongue of tongues)
  t.test(`${tongue.name}: a drill has the same answers straight and by the long way`, async (t) => {
    const [straight, long, started] = [
      await played(tongue, environments.straight, startOurs, scenes),
      await played(tongue, environments.long, startOurs, scenes),
      await played(tongue, environments.started, startOurs, scenes),
    ]
    for (const { results } of [straight, long, started])
      for (const { scene, mark, note } of results) t.equal(mark, 'pass', `${scene.name} ${scene.title} ${note}`)
    for (const [at, result] of straight.results.entries())
      t.strictSame(told(result), told(long.results[at]!), `${result.scene.name} ${result.scene.title}`)
    // A body goes the long way where the breaker of its backend is open, and a chat whose key is looked up again after 5 s.
    t.same(
      [...straight.counted.long.keys()].filter((why) => why !== 'body' && why !== 'key'),
      [],
      'every chat that may goes straight',
    )
    t.ok(straight.counted.straight > 20, `${straight.counted.straight} went straight`)
    t.equal(long.counted.straight, 0, 'no chat goes straight where the way is shut')
    t.ok(started.counted.straight > 20, `${started.counted.straight} of a started gateway went straight`)
  })

for (const tongue of sealedTongues)
  t.test(
    `sealgate seal, ${tongue.name}: a drill has the same answers straight and by the long way`,
    { skip: !isWhole && 'SEALGATE_WHOLE=1 plays it' },
    async (t) => {
      const all = []
      for (const routing of Object.values(environments))
        all.push(
          await drill(
            (faulty, dead, settings) => startSealed(faulty, dead, { ...settings, routing }),
            4 * pace,
            tongue,
            sealedScenes,
          ),
        )
      for (const results of all)
        for (const result of results)
          t.ok(isExpected(result), `${result.scene.name} ${result.scene.title}: ${result.mark} ${result.note}`)
      const [straight, long] = all
      for (const [at, result] of straight!.entries())
        t.strictSame(told(result), told(long![at]!), `${result.scene.name} ${result.scene.title}`)
    },
  )

/** Pauses of one length: chance would hide which way is slower. */
const evenly: StartGateway = (faulty, dead, settings) => {
  const random = plugin({
    port: Random,
    name: 'even',
    create: (): Random => ({ bytes: (length) => crypto.getRandomValues(new Uint8Array(length)), fraction: () => 0.5 }),
  })
  return startDrilled([drilledBackend('faulty', faulty, true), drilledBackend('dead', dead, false)], settings, {
    random: use(random),
  })
}

/** Rounds that are played, and how many where a scene still seems slower: other programs make single ones slow. */
const [leastRounds, mostRounds] = [2, 8]
/** Ms of a quiet machine by which a scene may take longer. */
const spare = 100

t.test('a fault of the first backend keeps a caller no longer straight than by the long way', async (t) => {
  const least = { straight: new Map<string, number>(), long: new Map<string, number>() }
  // The timeout of a first token is longer on a busy machine, and equal for both ways.
  const slow = slowNow()
  const straightOf = (name: string): number => least.straight.get(name) ?? Infinity
  const isSlower = ([name, ms]: [string, number]): boolean => straightOf(name) >= ms + spare * slow
  const seemsSlower = ({ name }: Scene): boolean => {
    const ms = least.long.get(name)
    return ms !== undefined && isSlower([name, ms])
  }
  for (let round = 0; round < mostRounds; round++) {
    const again = round < leastRounds ? scenes : scenes.filter(seemsSlower)
    if (again.length === 0) break
    for (const way of ['straight', 'long'] as const) {
      const { results } = await played(chat, environments[way], evenly, again, slow)
      for (const { scene, sight } of results)
        if (sight !== null) least[way].set(scene.name, Math.min(sight.ms, least[way].get(scene.name) ?? Infinity))
    }
  }
  for (const [name, ms] of least.long)
    t.notOk(isSlower([name, ms]), `${name}: ${Math.round(straightOf(name))} ms straight, ${Math.round(ms)} ms else`)
})
