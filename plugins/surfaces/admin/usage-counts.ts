import * as v from 'valibot'
import type { Counts } from '../../../core/ports/ledger.ts'

const count = v.number()

/** The counts of an answer, in the order of its columns. */
export const totals = {
  requests: count,
  input: count,
  output: count,
  reasoning: count,
  cached: count,
  audio_seconds: count,
  estimated: count,
  unanswered: count,
  unpriced: count,
  /** Null when the price of no request is known. */
  cost: v.nullable(count),
  /** Part of the cost whose counts are partly a guess. */
  estimated_cost: count,
}

/**
 * Counts of a row in public form: absent counts are 0, and costs are in the currency instead of millionths.
 */
export const printedCounts = ({ requests = 0, unanswered = 0, unpriced = 0, ...row }: Counts) => ({
  requests,
  input: row.input ?? 0,
  output: row.output ?? 0,
  reasoning: row.reasoning ?? 0,
  cached: row.cached ?? 0,
  audio_seconds: row.audio_seconds ?? 0,
  estimated: row.estimated ?? 0,
  unanswered,
  unpriced,
  cost: requests > 0 && unpriced + unanswered === requests ? null : (row.cost_micros ?? 0) / 1e6,
  estimated_cost: (row.estimated_cost_micros ?? 0) / 1e6,
})
