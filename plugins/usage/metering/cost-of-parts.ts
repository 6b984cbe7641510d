import type { Consumption, Mode } from '../../../core/inference/metering/consumption.ts'
import type { BilledModel } from '../../../core/inference/metering/meter.ts'
import type { Usage } from '../../../core/ports/usage.ts'
import type { Prices } from './prices.ts'

/** A call that several backends answered, one after the other. */
interface RescuedCall {
  /** The model as one of its candidates serves it. */
  servedBy(candidate: string): BilledModel | null
  readonly served: BilledModel
  readonly backend: string | null
  readonly mode: Mode
}

/** Each part of a rescued answer costs what its own backend takes; null where one of the prices is unknown. */
export const costOfParts = (
  { costOf, mostOf }: Prices,
  { servedBy, served, backend, mode }: RescuedCall,
  used: Consumption,
): number | null => {
  let before: Usage = { input: 0, output: 0 }
  const costs: (number | null)[] = []
  for (const { by, upTo } of used.broken ?? []) {
    // A part is no call of its own, so the price of a request stands once in the sum.
    costs.push(mostOf(servedBy(by), mode, { ...without(upTo, before), calls: 0 }))
    before = upTo
  }
  costs.push(costOf(served, backend, mode, { ...used, ...without(used, before) }))
  const sum = costs.reduce((all, cost) => (all === null || cost === null ? null : all + cost), 0)
  return sum === null ? null : Math.round(sum * 1e3) / 1e3
}

const counts = [
  ...(['input', 'output', 'reasoning', 'cached'] as const),
  ...(['written', 'writtenHour', 'audioInput', 'audioOutput'] as const),
]

/** What a later sum has beyond an earlier one. */
const without = (later: Usage, earlier: Usage): Usage => ({
  ...{ input: 0, output: 0 },
  ...Object.fromEntries(counts.map((name) => [name, Math.max(0, (later[name] ?? 0) - (earlier[name] ?? 0))])),
})
