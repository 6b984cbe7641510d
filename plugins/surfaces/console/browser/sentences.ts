import type { Chained, Incident } from './answers.ts'
import { type Budget, budgetsOf } from './budgets.ts'
import { clockTime, count } from './format.ts'
import { pathOf } from './gateway.ts'
import type { Sample } from './prometheus.ts'

export interface Trouble {
  readonly grave: boolean
  readonly words: string
  /** Where its requests are shown. */
  readonly hash?: string
}

export interface GatewayState {
  /** What keeps the gateway from being ready; null when nothing does. */
  readonly obstacle: string | null
  /** Names of pieces that clients who seal would refuse, and sentences about anything else. */
  readonly degraded: readonly string[]
  readonly samples: readonly Sample[]
  readonly incidents: readonly Incident[]
  /** The chains of the models, as far as they were read. */
  readonly chains: readonly Chained[]
}

const dayInSeconds = 86_400

/** What failed last, in words. */
export const statusWords = (status: number | null): string => (status === null ? 'without an answer' : `with ${status}`)

const isOpen = ({ until }: Incident): boolean => until === null

const isOf = ({ backend, model }: Incident, link: Chained['chain'][number]): boolean =>
  link.backend === backend && link.model === model

/** The models that callers know by the backend's one. */
export const modelsBehind = (incident: Incident, chains: readonly Chained[]): readonly Chained[] =>
  chains.filter(({ chain }) => chain.some((link) => isOf(incident, link)))

/** An incident is grave where a model has no backend without one. */
const ofIncident = (incident: Incident, chains: readonly Chained[], all: readonly Incident[]): Trouble => {
  const { backend, model, since, failed, status } = incident
  const behind = modelsBehind(incident, chains)
  const stuck = behind.filter(({ chain }) => chain.every((link) => all.some((other) => isOf(other, link))))
  const names = (stuck.length > 0 ? stuck : behind).map((chained) => chained.model)
  const whose = names.length === 0 ? `Model ${model}` : `Model ${names.join(', ')}`
  const rest = names.length === 0 || stuck.length > 0 ? '' : '; other backends answer'
  return {
    grave: names.length === 0 || stuck.length > 0,
    words: `${whose}: no call of backend ${backend} is answered since ${clockTime(since)}, ${count(failed)} failed, the last ${statusWords(status)}${rest}.`,
    hash: pathOf('#/live', { show: 'failed', ...(names.length === 1 && { model: names[0] ?? null }) }),
  }
}

const ofBudget = ({ holder, period, share }: Budget): readonly Trouble[] =>
  share < 0.8
    ? []
    : [
        {
          grave: share >= 1,
          words: `The budget of ${holder} for a ${period} is used to ${Math.floor(share * 100)} %.`,
        },
      ]

const ofEvidence = ({ name, labels, value }: Sample): readonly Trouble[] =>
  name === 'sealgate_evidence_collateral_ends_seconds' && value > 0 && value < dayInSeconds
    ? [{ grave: false, words: `Clients refuse the evidence within a day: ${labels['piece'] ?? 'a piece'} ends.` }]
    : []

/** What is wrong now, the gravest first; empty when nothing is. */
export const troublesOf = (state: GatewayState): readonly Trouble[] => {
  const { obstacle, degraded, samples, chains } = state
  const open = state.incidents.filter(isOpen)
  const all = [
    ...(obstacle === null ? [] : [{ grave: true, words: `The gateway is not ready: ${obstacle}.` }]),
    ...degraded.map((piece) => ({
      grave: true,
      words:
        piece === 'evidence'
          ? 'The gateway refuses the evidence of its own enclave.'
          : piece.includes(' ')
            ? `${piece}.`
            : `Clients that seal refuse this gateway: ${piece} is missing or has ended.`,
    })),
    ...open.map((incident) => ofIncident(incident, chains, open)),
    ...budgetsOf(samples).flatMap(ofBudget),
    ...samples.flatMap(ofEvidence),
  ]
  return all.toSorted((one, other) => Number(other.grave) - Number(one.grave))
}
