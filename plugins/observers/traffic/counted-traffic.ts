import type { Observer } from '../../../core/ports/observer.ts'
import { type Incident, incidentsOf, joinedIncidents } from './incidents.ts'
import { type Told, added, ringOf } from './ring.ts'
import type { Span, TrafficQuestion } from './traffic-question.ts'

/** Counts of one process with its incidents. */
export interface ToldTraffic extends Told {
  readonly incidents: readonly Incident[]
}

type Late<F extends (...args: never[]) => void> = (now: number, ...args: Parameters<F>) => void

type Hooks = Required<Observer>

/** What one process counts; `now` is Unix time in ms. */
export interface CountedTraffic {
  readonly left: Late<Hooks['left']>
  readonly used: Late<Hooks['used']>
  readonly firstToken: Late<Hooks['firstToken']>
  readonly saw: Late<Hooks['saw']>
  told(question: TrafficQuestion, now: number): ToldTraffic
}

/** Probes, administration, the console, lists of models and pages about the interface are no traffic of callers. */
const isOwn =
  /^none$|^(?:GET|HEAD) \/(?:health|metrics|docs|openapi\.json|llms)|^(?:GET|HEAD) \/$|^OPTIONS | \/(?:admin|console)(?:\/|$)|^GET .*\/models(?:\/|$)/

const sizes = { hour: { steps: 60, ms: 60_000 }, day: { steps: 48, ms: 1_800_000 } } as const

/** An hour and a day of counts, in memory. */
export const countedTraffic = (): CountedTraffic => {
  const rings = { hour: ringOf(sizes.hour), day: ringOf(sizes.day) }
  const each = [rings.hour, rings.day]
  const incidents = incidentsOf()
  return {
    told: ({ span, by, name }, now) => ({ ...rings[span].told(now, by, name), incidents: incidents.all(now) }),
    left(now, route, status, ms) {
      if (isOwn.test(route)) return
      for (const ring of each) ring.left(now, route, status, ms)
    },
    used(now, use) {
      for (const ring of each) ring.used(now, use)
    },
    firstToken(now, model, ms) {
      for (const ring of each) ring.firstToken(now, model, ms)
    },
    saw(now, provider, outcome, ms, status, attempt) {
      if (outcome === 'left') return
      incidents.saw(now, provider, attempt.model, outcome, status)
      for (const ring of each) ring.saw(now, provider, outcome, ms, attempt.streams)
    },
  }
}

/** What all processes counted, and when the first slot begins. */
export const together = (all: readonly ToldTraffic[], span: Span, now: number) => {
  const { ms, steps } = sizes[span]
  return {
    ...added(all),
    processes: all.length,
    stepMs: ms,
    from: (Math.floor(now / ms) - steps + 1) * ms,
    incidents: joinedIncidents(all.flatMap(({ incidents }) => incidents)),
  }
}
