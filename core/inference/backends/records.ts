import { one } from '../../container.ts'
import { plugin } from '../../plugin.ts'
import { BackendObserver, type Outcome } from '../../ports/backend-observer.ts'
import { Clock } from '../../ports/platform.ts'
import { UsageObserver } from '../../ports/usage-observer.ts'

/** A finished call of a backend. */
export interface BackendCall {
  /** Unix time in ms. */
  readonly at: number
  readonly outcome: Outcome
  /** The status of a failure; null without one. */
  readonly status: number | null
  readonly ms: number
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
  readonly saw: BackendObserver['saw']
  readonly used: UsageObserver['used']
}

export const BackendRecords = one<BackendRecords>('BackendRecords')

export const callsKept = 20
const timesKept = 200
/** Reloads bring new names; further ones are not remembered. */
const mostBackends = 1_000

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
  readonly calls: BackendCall[]
  readonly times: number[]
  readonly firsts: number[]
  used: BackendUse
}

const keep = <T>(list: T[], it: T, most: number): void => {
  if (list.push(it) > most) list.shift()
}

export const backendRecords = plugin({
  port: BackendRecords,
  name: 'memory',
  needs: { clock: Clock },
  create: ({ clock }): BackendRecords => {
    const all = new Map<string, Kept>()
    const found = (name: string): Kept | null => {
      const known = all.get(name)
      if (known !== undefined || all.size >= mostBackends) return known ?? null
      const it: Kept = { calls: [], times: [], firsts: [], used: unused }
      all.set(name, it)
      return it
    }
    return {
      of: (name) => all.get(name) ?? { calls: [], times: [], firsts: [], used: unused },
      saw(provider, outcome, ms, status, streams = false) {
        const it = outcome === 'left' ? null : found(provider)
        if (it === null) return
        keep(it.calls, { at: clock.now(), outcome, status, ms }, callsKept)
        if (outcome === 'answered') keep(streams ? it.firsts : it.times, ms, timesKept)
      },
      used({ backend, input, output, cached, reasoning, cost }) {
        const it = found(backend)
        if (it === null) return
        const { used } = it
        it.used = {
          requests: used.requests + 1,
          input: used.input + input,
          output: used.output + output,
          cached: used.cached + cached,
          reasoning: used.reasoning + reasoning,
          unpriced: used.unpriced + Number(cost === null),
          cost: used.cost + (cost ?? 0),
        }
      },
    }
  },
})

export const recordingObserver = plugin({
  port: BackendObserver,
  name: 'records',
  needs: { records: BackendRecords },
  create: ({ records }): BackendObserver => ({ saw: records.saw }),
})

export const recordingUsage = plugin({
  port: UsageObserver,
  name: 'records',
  needs: { records: BackendRecords },
  create: ({ records }): UsageObserver => ({ used: records.used, began() {}, stands() {}, warned() {} }),
})
