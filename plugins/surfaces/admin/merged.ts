import type { BreakerState } from '../../../core/inference/routing/breaker.ts'
import {
  type BackendCall,
  type BackendRecord,
  type BackendUse,
  callsKept,
  type FaultKind,
  faultKinds,
  faultOf,
  unused,
} from './records.ts'

/** A breaker that is not closed. */
export interface OpenBreaker {
  /** The backend's own name of the model. */
  readonly model: string
  readonly state: BreakerState
  /** Ms until it lets a call in. */
  readonly rest: number
}

/** A backend as one process sees it. */
export interface SeenBackend extends BackendRecord {
  readonly name: string
  readonly breakers: readonly OpenBreaker[]
  /** When its list of models was read, in Unix ms; null without a list. */
  readonly listed: number | null
}

/** A backend as all processes see it. */
export interface BackendState {
  readonly name: string
  readonly breakers: readonly OpenBreaker[]
  readonly calls: readonly BackendCall[]
  readonly faults: readonly { readonly kind: FaultKind; readonly count: number }[]
  /** In ms; null without any call. */
  readonly p50: number | null
  readonly p95: number | null
  readonly first50: number | null
  readonly first95: number | null
  readonly listed: number | null
  readonly used: BackendUse
}

/** The value that so large a share of the values does not pass; null of none. */
export const quantile = (values: readonly number[], share: number): number | null =>
  values.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? null

/** Of one model's breakers, the breaker that rests longest. */
const worst = (all: readonly OpenBreaker[]): readonly OpenBreaker[] => {
  const found = new Map<string, OpenBreaker>()
  for (const breaker of all) {
    const known = found.get(breaker.model)
    if (known === undefined || known.rest < breaker.rest) found.set(breaker.model, breaker)
  }
  return [...found.values()]
}

const sumOf = (all: readonly BackendUse[]): BackendUse =>
  all.reduce(
    (sum, more) => ({
      requests: sum.requests + more.requests,
      input: sum.input + more.input,
      output: sum.output + more.output,
      cached: sum.cached + more.cached,
      reasoning: sum.reasoning + more.reasoning,
      unpriced: sum.unpriced + more.unpriced,
      cost: sum.cost + more.cost,
    }),
    unused,
  )

/** What the processes see of one backend, as one. */
export const mergedState = (name: string, seen: readonly SeenBackend[]): BackendState => {
  const calls = seen
    .flatMap(({ calls }) => calls)
    .toSorted((one, other) => one.at - other.at)
    .slice(-callsKept)
  const times = seen.flatMap(({ times }) => times)
  const firsts = seen.flatMap(({ firsts }) => firsts)
  const lists = seen.flatMap(({ listed }) => listed ?? [])
  const faults = faultKinds.map((kind) => ({ kind, count: calls.filter((call) => faultOf(call) === kind).length }))
  return {
    name,
    breakers: worst(seen.flatMap(({ breakers }) => breakers)),
    calls,
    faults: faults.filter(({ count }) => count > 0),
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    first50: quantile(firsts, 0.5),
    first95: quantile(firsts, 0.95),
    listed: lists.length === 0 ? null : Math.max(...lists),
    used: sumOf(seen.map(({ used }) => used)),
  }
}
