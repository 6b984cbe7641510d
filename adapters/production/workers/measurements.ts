import { AggregatorRegistry } from 'prom-client'
import type { Measured } from '../../../core/ports/cluster.ts'
import type { Member } from './pool.ts'

/** One metric in the form of the metrics library. */
interface Metric {
  readonly type: string
  readonly values: readonly object[]
}

/** The most rows of ended workers. Beyond them an ended worker is left out, as each new one may bring names of its own. */
const mostRows = 50_000

const metricsIn = (measured: Measured) => measured as readonly Metric[]

const rowsIn = (measured: Measured): number => metricsIn(measured).reduce((sum, { values }) => sum + values.length, 0)

/** What only adds up; a gauge ends with its process. */
const sumsIn = (measured: Measured): Measured =>
  metricsIn(measured).filter(({ type }) => type === 'counter' || type === 'histogram')

const added = async (past: Measured, sums: Measured): Promise<Measured> => {
  const both: Measured = await AggregatorRegistry.aggregate([past, sums] as object[][]).getMetricsAsJSON()
  return rowsIn(both) > mostRows ? past : both
}

/**
 * What the workers of one port have measured. A late worker counts as in its last answer, and the sums of an ended one
 * stay: a counter that goes back is a restart to Prometheus, which then counts everything anew.
 */
export const measurements = () => {
  const last = new Map<Pick<Member, 'ended'>, Measured>()
  let past: Promise<Measured> = Promise.resolve([])
  return {
    note(worker: Pick<Member, 'ended'>, measured: Measured): void {
      const isNew = !last.has(worker)
      last.set(worker, measured)
      if (!isNew) return
      void worker.ended.then(() => {
        const sums = sumsIn(last.get(worker)!)
        last.delete(worker)
        past = past.then((before) => added(before, sums))
      })
    },
    /** Those of the ended workers together, and of each other worker. */
    async besides(worker: Pick<Member, 'ended'>): Promise<readonly Measured[]> {
      const others = [...last].filter(([other]) => other !== worker).map(([, measured]) => measured)
      return [await past, ...others]
    },
  }
}
