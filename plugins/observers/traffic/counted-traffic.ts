import type { Observer } from '../../../core/ports/observer.ts'
import { type Counts, addTime } from './counts.ts'
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
      for (const ring of each) {
        const counts = ring.all(now)
        counts.requests++
        if (status >= 500) counts.errors++
        if (route.includes(' /rvenc/')) counts.sealed++
        addTime(counts.times, ms)
      }
    },
    used(now, use) {
      const { model, backend, team, organization } = use
      for (const ring of each) {
        consume(ring.all(now), use)
        answer(ring.of(now, 'model', model), use)
        // Calls of a backend are counted as they end, those that failed too.
        consume(ring.of(now, 'backend', backend), use)
        answer(ring.of(now, 'organization', organization), use)
        if (team !== null) answer(ring.of(now, 'team', `${organization}/${team}`), use)
      }
    },
    firstToken(now, model, ms) {
      for (const ring of each) {
        addTime(ring.all(now).firsts, ms)
        addTime(ring.of(now, 'model', model).firsts, ms)
      }
    },
    saw(now, provider, outcome, ms, status, { model, streams }) {
      if (outcome === 'left') return
      incidents.saw(now, provider, model, outcome, status)
      for (const ring of each) {
        const counts = ring.of(now, 'backend', provider)
        if (outcome !== 'broke') counts.requests++
        if (outcome !== 'answered') counts.errors++
        else addTime(streams ? counts.firsts : counts.times, ms)
      }
    },
  }
}

type Use = Parameters<Hooks['used']>[0]

const consume = (counts: Counts, { input, output, cost }: Use): void => {
  counts.input += input
  counts.output += output
  counts.cost += cost ?? 0
  if (cost === null) counts.unpriced++
}

const answer = (counts: Counts, use: Use): void => {
  counts.requests++
  consume(counts, use)
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
