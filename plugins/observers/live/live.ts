import { one } from '../../../core/container.ts'
import { Unavailable } from '../../../core/errors.ts'
import { lazy, plugin } from '../../../core/plugin.ts'
import { Clock, Random } from '../../../core/ports/platform.ts'
import { Observer } from '../../../core/ports/observer.ts'
import { Siblings } from '../../../core/ports/cluster.ts'
import type { Batch } from './sample.ts'
import type { Stage } from './stage.ts'
import type { Want } from './wants.ts'
import type { WatchedRequests } from './watched.ts'

export type { News } from './watched.ts'

/** Requests as they run, for listeners. */
export type Live = WatchedRequests

export const Live = one<Live>('Live')

/** Requests a second that a listener is shown, of all processes together. */
export const mostPerSecond = 50

/** The code loads with the first listener: a gateway without listeners pays nothing. */
const staging = lazy(() => import('./stage.ts'))

/** Part of the whole gateway and of no generation, so that a reload cuts no listener off. */
export const live = plugin({
  port: Live,
  name: 'live',
  needs: { clock: Clock, random: Random, siblings: Siblings },
  create: (supplied): Live => {
    let stage: Stage | null = null
    let over = false
    const staged = async (): Promise<Stage> => {
      const { stageOf } = await staging()
      if (over) throw new Unavailable()
      return (stage ??= stageOf(supplied, mostPerSecond))
    }
    supplied.siblings.answer?.('live.want', async (want) => (await staged()).hear(want as Want))
    // A process whose listeners want nothing has no place for what is new elsewhere.
    supplied.siblings.answer?.('live.batch', (batch) => stage?.deliver(batch as Batch))
    return {
      isHeard: () => stage?.isHeard() ?? false,
      begin: (request) => stage?.begin(request) ?? null,
      processes: () => stage?.processes() ?? 1,
      async *listen(...wish) {
        yield* (await staged()).listen(...wish)
      },
      dispose() {
        over = true
        stage?.dispose()
      },
    }
  },
})

/** Shows requests to listeners. */
export const liveObserver = plugin({
  port: Observer,
  name: 'live',
  needs: { live: Live },
  create: ({ live }): Observer => ({ isWatching: () => live.isHeard(), begin: (request) => live.begin(request) }),
})
