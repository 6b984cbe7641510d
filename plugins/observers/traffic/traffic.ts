import { one } from '../../../core/container.ts'
import { plugin, lazy } from '../../../core/plugin.ts'
import { Siblings } from '../../../core/ports/cluster.ts'
import { Observer } from '../../../core/ports/observer.ts'
import { Clock, Log } from '../../../core/ports/platform.ts'
import type { CountedTraffic, ToldTraffic } from './counted-traffic.ts'
import type { Grouping, Span, TrafficQuestion } from './traffic-question.ts'

/** The spans that a question may name. */
export const spans = ['hour', 'day'] as const satisfies readonly Span[]
/** The kinds of names that a question may name. */
export const groupings = ['model', 'team', 'organization', 'backend'] as const satisfies readonly Grouping[]

/** A moment at which the gateway began anew: its figures may break there. */
export interface Mark {
  /** Unix time in ms. */
  readonly at: number
  readonly what: 'start' | 'reload'
}

interface ProcessTraffic extends ToldTraffic {
  readonly marks: readonly Mark[]
}

export interface TrafficAnswer extends ProcessTraffic {
  readonly processes: number
  readonly stepMs: number
  /** Unix time in ms at which the first slot begins. */
  readonly from: number
}

/** What callers asked of the gateway in the last hour and the last day: counts and times, and no text of a caller. */
export interface Traffic {
  /** Of all processes together. */
  ask(question: TrafficQuestion): Promise<TrafficAnswer>
  readonly observer: Observer
}

export const Traffic = one<Traffic>('Traffic')

const mostMarks = 50

/** The code loads with the first call. */
const counting = lazy(() => import('./counted-traffic.ts'))

/** Counts in the memory of each process. A restart forgets them, a reload does not. */
export const traffic = plugin({
  port: Traffic,
  name: 'traffic',
  needs: { clock: Clock, siblings: Siblings, log: Log },
  create({ clock, siblings, log }): Traffic {
    let counted: CountedTraffic | null = null
    let marks: readonly Mark[] = []
    const ready = async (): Promise<CountedTraffic> => {
      const { countedTraffic } = await counting()
      return (counted ??= countedTraffic())
    }
    const countLater = (act: (to: CountedTraffic, now: number) => void): void => {
      const now = clock.now()
      void ready().then(
        (to) => act(to, now),
        (fault: unknown) => log.error('traffic.lost', {}, fault),
      )
    }
    const own = async (question: TrafficQuestion): Promise<ProcessTraffic> => ({
      ...(await ready()).told(question, clock.now()),
      marks,
    })
    siblings.answer?.('traffic', (question) => own(question as TrafficQuestion))

    return {
      async ask(question) {
        const others = ((await siblings.ask?.('traffic', question)) ?? []) as readonly ProcessTraffic[]
        const first = await own(question)
        const { together } = await counting()
        return { ...together([first, ...others], question.span, clock.now()), marks }
      },
      observer: {
        renewed() {
          const what = marks.length === 0 ? 'start' : 'reload'
          marks = [...marks, { at: clock.now(), what } as const].slice(-mostMarks)
        },
        left(route, status, ms) {
          if (counted === null) countLater((to, now) => to.left(now, route, status, ms))
          else counted.left(clock.now(), route, status, ms)
        },
        used(use) {
          if (counted === null) countLater((to, now) => to.used(now, use))
          else counted.used(clock.now(), use)
        },
        firstToken(model, ms) {
          if (counted === null) countLater((to, now) => to.firstToken(now, model, ms))
          else counted.firstToken(clock.now(), model, ms)
        },
        saw(backend, outcome, ms, status, attempt) {
          if (counted === null) countLater((to, now) => to.saw(now, backend, outcome, ms, status, attempt))
          else counted.saw(clock.now(), backend, outcome, ms, status, attempt)
        },
      },
    }
  },
})

/** Counts requests, calls of backends and what answered calls used, and marks each reload. */
export const trafficObserver = plugin({
  port: Observer,
  name: 'traffic',
  needs: { traffic: Traffic },
  create: ({ traffic: { observer } }): Observer => observer,
})
