import { Forbidden } from '../../../core/errors.ts'
import { type Counts, quantileOf } from '../../observers/traffic/ring.ts'
import type { Grouping, Span } from '../../observers/traffic/traffic-question.ts'
import type { Traffic, TrafficAnswer } from '../../observers/traffic/traffic.ts'

/** Counts in public form: times by their quantiles, and costs in the currency instead of millionths. */
const printed = (
  { requests, errors, sealed, times, firsts, input, output, cost, unpriced }: Counts,
  tellsErrors: boolean,
) => ({
  ...{ requests, errors: tellsErrors ? errors : null, sealed },
  ...{ p50_ms: quantileOf(times, 0.5), p95_ms: quantileOf(times, 0.95) },
  ...{ first_token_p50_ms: quantileOf(firsts, 0.5), first_token_p95_ms: quantileOf(firsts, 0.95) },
  ...{ input, output, cost: cost / 1e6, unpriced },
})

/** The wanted part of the traffic. */
export interface TrafficQuery {
  readonly span: Span
  readonly by?: Grouping | undefined
  readonly name?: string | undefined
}

const slotsOf = ({ slots, from, stepMs }: TrafficAnswer, tellsErrors: boolean) =>
  slots.map((counts, place) => ({ at: from + place * stepMs, ...printed(counts, tellsErrors) }))

const sumsOf = ({ sums }: Pick<TrafficAnswer, 'sums'>, tellsErrors: boolean) =>
  Object.entries(sums)
    .map(([name, counts]) => ({ name, ...printed(counts, tellsErrors) }))
    .sort((one, other) => other.requests - one.requests)

/** The traffic of all callers. */
export const allTraffic = async (traffic: Traffic, { span, by = 'model', name }: TrafficQuery) => {
  const failsKnown = by === 'backend'
  const answer = await traffic.ask({ span, by, name: name ?? null })
  const { processes, stepMs, from, marks, incidents } = answer
  return {
    ...{ processes, step_ms: stepMs },
    slots: slotsOf(answer, name === undefined || failsKnown),
    sums: sumsOf(answer, failsKnown),
    marks: marks.filter(({ at }) => at >= from),
    incidents: [...incidents],
  }
}

/** The answered calls of one organisation, in sum and by its teams. Backends and their incidents are the operators' matter. */
export const trafficOf = async (organization: string, traffic: Traffic, { span, by = 'team', name }: TrafficQuery) => {
  const own = `${organization}/`
  if (by !== 'team' || (name !== undefined && !name.startsWith(own)))
    throw new Forbidden('The traffic of an organisation is told by its teams')
  const teams = await traffic.ask({ span, by, name: name ?? null })
  const shown = name === undefined ? await traffic.ask({ span, by: 'organization', name: organization }) : teams
  const sums = Object.fromEntries(Object.entries(teams.sums).filter(([team]) => team.startsWith(own)))
  return {
    ...{ processes: shown.processes, step_ms: shown.stepMs },
    slots: slotsOf(shown, false),
    sums: sumsOf({ sums }, false),
    ...{ marks: [], incidents: [] },
  }
}
