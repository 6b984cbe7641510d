import type { Outcome } from '../../../core/ports/observer.ts'

/** A time in which no call of a backend's model was answered. */
export interface Incident {
  readonly backend: string
  /** The backend's own name of the model. */
  readonly model: string
  /** Unix time in ms of the first and of the last call that failed. */
  readonly since: number
  readonly last: number
  /** Unix time in ms of the next answer; null while there is none. */
  readonly until: number | null
  readonly failed: number
  /** The status of the last failure; null without one. */
  readonly status: number | null
}

/** Failures one after the other that make an incident. */
const least = 3
const dayMs = 86_400_000
/** Backends' models with a failure, and incidents that are over. */
const most = 500

/** Incidents of the last day, in memory. */
export interface Incidents {
  saw(at: number, backend: string, model: string, outcome: Outcome, status: number | null): void
  /** The latest last. */
  all(now: number): readonly Incident[]
}

export const incidentsOf = (): Incidents => {
  const failing = new Map<string, Incident>()
  let over: readonly Incident[] = []
  const isKept = (incident: Incident, now: number): boolean =>
    incident.failed >= least && now - (incident.until ?? now) <= dayMs
  return {
    saw(at, backend, model, outcome, status) {
      if (outcome === 'left' || (outcome === 'answered' && failing.size === 0)) return
      const name = `${backend}\n${model}`
      const known = failing.get(name)
      if (outcome === 'answered') {
        failing.delete(name)
        if (known !== undefined && known.failed >= least)
          over = [...over.filter((incident) => isKept(incident, at)), { ...known, until: at }].slice(-most)
      } else if (known !== undefined) failing.set(name, { ...known, last: at, failed: known.failed + 1, status })
      else if (failing.size < most)
        failing.set(name, { backend, model, since: at, last: at, until: null, failed: 1, status })
    },
    all: (now) => [...over, ...failing.values()].filter((incident) => isKept(incident, now)),
  }
}

const meet = (one: Incident, other: Incident): boolean =>
  one.backend === other.backend &&
  one.model === other.model &&
  one.since <= (other.until ?? Infinity) &&
  other.since <= (one.until ?? Infinity)

const joined = (one: Incident, other: Incident): Incident => ({
  ...(one.last >= other.last ? one : other),
  since: Math.min(one.since, other.since),
  until: one.until === null || other.until === null ? null : Math.max(one.until, other.until),
  failed: one.failed + other.failed,
})

/** Incidents that several processes saw at the same time are one. The latest stands last. */
export const joinedIncidents = (all: readonly Incident[]): readonly Incident[] => {
  const whole: Incident[] = []
  for (const incident of all.toSorted((one, other) => one.since - other.since)) {
    const at = whole.findLastIndex((known) => meet(known, incident))
    const known = whole[at]
    if (known === undefined) whole.push(incident)
    else whole[at] = joined(known, incident)
  }
  return whole
}
