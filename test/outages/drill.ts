import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { slowness } from '../slowness.ts'
import { sampled } from '../whole.ts'
import { type Acknowledged, callsTo } from './families.ts'
import { type Load, loading } from './load.ts'
import { type FilesLeft, type UsageLeft, filesLeft, placesLeft, requestsLeft, usageLeft } from './losses.ts'
import { type Scene, type Seen, playing } from './scene.ts'
import { scenes, withRedis } from './scenes.ts'
import type { Stage } from './stage.ts'

export interface Played {
  readonly scene: Scene
  readonly seen: Seen
}

/** What is there when all outages are over. */
export interface Left {
  readonly files: FilesLeft
  readonly usage: UsageLeft
  readonly places: number
  readonly requests: number
  /** Of the gateway, before and after, and whether that is more than it keeps; null where the system does not tell. */
  readonly sockets: { readonly before: number; readonly after: number; readonly tooMany: boolean } | null
}

/** Requests a second of a quiet machine: of all scenes at night, and of the sample of them. */
const rates = { whole: 60, sample: 30 } as const
/** Answers after which a gateway has its code compiled, and keeps up. */
const warm = 45
const calm = 1_500
/** Sockets that may be kept for the next request, and how long any other may take to be closed. */
const [kept, closing] = [60, 5_000]

/** Every outage under load, or those that are not left to the night, Redis being killed for so many ms. */
export async function* drill(stage: Stage, lasting: number, whole: boolean): AsyncGenerator<Played, Left> {
  const { key } = stage
  // A busy machine has less of itself to give: a load that it can't carry would show nothing but the load.
  const rate = (whole ? rates.whole : rates.sample) / slowness()
  // Each day plays one of two that show the same server away: stopped, or silent.
  const played = (all: readonly Scene[]) =>
    whole
      ? all
      : sampled(
          all.filter(({ atNight }) => atNight !== true),
          2,
        )
  const agent = new Agent()
  const acknowledged: Acknowledged = new Map()
  const [byDefault, open, closed] = await Promise.all([
    stage.gateway(),
    stage.gateway({ places: 'open', tokens: 'open', requests: 'open' }),
    stage.gateway({ places: 'closed', tokens: 'closed', requests: 'closed' }),
  ])
  const all = callsTo(byDefault.base, key, acknowledged, agent)
  const some = ({ base }: typeof open) => {
    const { live, models, chat, decision, upload } = callsTo(base, key, acknowledged, agent)
    return { live, models, chat, decision, upload }
  }
  const begun: Load[] = []
  const loaded = (...row: Parameters<typeof loading>) => {
    const load = loading(...row)
    begun.push(load)
    return load
  }
  try {
    const three = {
      byDefault: loaded(all, rate),
      open: loaded(some(open), rate / 6),
      closed: loaded(some(closed), rate / 6),
    }
    await warmed(three.byDefault)
    const play = playing(stage, three, performance.now())
    await sleep(calm)
    for (const scene of played(withRedis(lasting))) yield { scene, seen: await play(scene) }
    await Promise.all(begun.map((load) => load.stop()))
    await Promise.all([byDefault.stop(), closed.stop()])

    const load = loaded(callsTo(open.base, key, acknowledged, agent), rate)
    await warmed(load)
    const playOn = playing(stage, { open: load }, performance.now())
    await sleep(calm)
    const before = await open.sockets()
    for (const scene of played(scenes)) yield { scene, seen: await playOn(scene) }
    await load.stop()
    await agent.close()

    let after = await open.sockets()
    const isMore = () => before !== null && after !== null && after > before + kept
    for (const until = performance.now() + closing; isMore() && performance.now() < until; await sleep(250))
      after = await open.sockets()
    return {
      sockets: before === null || after === null ? null : { before, after, tooMany: isMore() },
      requests: await requestsLeft(open.base, key),
      files: await filesLeft(open.base, key, acknowledged),
      usage: await usageLeft(open.base, key, begun.flatMap(({ answers }) => answers)), // prettier-ignore
      places: await placesLeft(stage.redisUrl),
    }
  } finally {
    for (const load of begun) void load.stop()
  }
}

const warmed = async ({ answers, oldest }: Load): Promise<void> => {
  const began = performance.now()
  const waits = () => performance.now() - (oldest() ?? performance.now()) > 250
  while ((answers.length < warm || waits()) && performance.now() - began < 30_000) await sleep(20)
}
