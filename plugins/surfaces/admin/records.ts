import { one } from '../../../core/container.ts'
import { plugin } from '../../../core/plugin.ts'
import { Observer, type Outcome, type Saw, type Used } from '../../../core/ports/observer.ts'
import { Clock } from '../../../core/ports/platform.ts'

/** A finished call of a backend. */
export interface BackendCall {
  /** Unix time in ms. */
  readonly at: number
  readonly outcome: Outcome
  /** The status of a failure; null without one. */
  readonly status: number | null
  readonly ms: number
}

/** The class of a backend's fault, told by its status alone. */
export const faultKinds = [
  'unreached',
  'key_refused',
  'rate_limited',
  'request_refused',
  'server_error',
  'stream_broken',
] as const
export type FaultKind = (typeof faultKinds)[number]

/** Null for a call without a fault. */
export const faultOf = ({ outcome, status }: Pick<BackendCall, 'outcome' | 'status'>): FaultKind | null => {
  if (outcome === 'broke') return 'stream_broken'
  if (outcome !== 'failed') return null
  // No connection, no answer in time, or an answer in no form that its provider knows.
  if (status === null) return 'unreached'
  if (status === 401 || status === 403) return 'key_refused'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'server_error' : 'request_refused'
}

/** What was counted of a backend's answers. */
export interface BackendUse {
  readonly requests: number
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
  readonly unpriced: number
  /** In millionths of the currency; of the priced requests. */
  readonly cost: number
}

/** What one process remembers of a backend since its start. */
export interface BackendRecord {
  /** The last ones, the latest last; without the calls that were abandoned. */
  readonly calls: readonly BackendCall[]
  /** Ms to the last whole answers, and to the last first tokens of streams. */
  readonly times: readonly number[]
  readonly firsts: readonly number[]
  readonly used: BackendUse
}

/** The last calls and the use of each backend, in memory. */
export interface BackendRecords {
  of(backend: string): BackendRecord
  readonly saw: Saw
  used(use: Used): void
}

export const BackendRecords = one<BackendRecords>('BackendRecords')

/** Finished calls that are kept of each backend. */
export const callsKept = 20
const timesKept = 200
/** Reloads bring new names; further ones are not remembered. */
const mostBackends = 1_000

/** The use of a backend that has answered nothing yet. */
export const unused: BackendUse = {
  requests: 0,
  input: 0,
  output: 0,
  cached: 0,
  reasoning: 0,
  unpriced: 0,
  cost: 0,
}

interface Kept {
  readonly calls: LastOf<BackendCall>
  readonly times: LastOf<number>
  readonly firsts: LastOf<number>
  readonly used: { -readonly [Name in keyof BackendUse]: BackendUse[Name] }
}

/** The last ones of many. */
interface LastOf<T> {
  add(entry: T): void
  /** The latest last. */
  all(): readonly T[]
}

/** Writes over the oldest one: a list that loses its first member is laid out anew each time. */
const lastOf = <T>(most: number): LastOf<T> => {
  const kept: T[] = []
  let oldest = 0
  return {
    add(entry) {
      if (kept.length < most) return void kept.push(entry)
      kept[oldest] = entry
      oldest = (oldest + 1) % most
    },
    all: () => [...kept.slice(oldest), ...kept.slice(0, oldest)],
  }
}

const freshRecord = (): Kept => ({
  calls: lastOf(callsKept),
  times: lastOf(timesKept),
  firsts: lastOf(timesKept),
  used: { ...unused },
})

/** Records in the memory of this process alone. A restart forgets them, a reload does not. */
export const backendRecords = plugin({
  port: BackendRecords,
  name: 'memory',
  needs: { clock: Clock },
  create: ({ clock }): BackendRecords => {
    const all = new Map<string, Kept>()
    const found = (name: string): Kept | null => {
      const known = all.get(name)
      if (known !== undefined || all.size >= mostBackends) return known ?? null
      const record = freshRecord()
      all.set(name, record)
      return record
    }
    return {
      of(name) {
        const { calls, times, firsts, used } = all.get(name) ?? freshRecord()
        return { calls: calls.all(), times: times.all(), firsts: firsts.all(), used: { ...used } }
      },
      saw(provider, outcome, ms, status, { streams }) {
        const record = outcome === 'left' ? null : found(provider)
        if (record === null) return
        record.calls.add({ at: clock.now(), outcome, status, ms })
        if (outcome === 'answered') (streams ? record.firsts : record.times).add(ms)
      },
      used({ backend, input, output, cached, reasoning, cost }) {
        const record = found(backend)
        if (record === null) return
        const sums = record.used
        sums.requests++
        sums.input += input
        sums.output += output
        sums.cached += cached
        sums.reasoning += reasoning
        if (cost === null) sums.unpriced++
        else sums.cost += cost
      },
    }
  },
})

/** Hands each finished call of a backend, and each counted use, to the records. */
export const recordingObserver = plugin({
  port: Observer,
  name: 'records',
  needs: { records: BackendRecords },
  create: ({ records: { saw, used } }): Observer => ({ saw, used }),
})
