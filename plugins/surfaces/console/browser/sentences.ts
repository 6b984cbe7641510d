import { type Backend, stateOf } from './backends.ts'
import { type Budget, budgetsOf } from './budgets.ts'
import type { Sample } from './prometheus.ts'

export interface Trouble {
  readonly grave: boolean
  readonly words: string
}

export interface GatewayState {
  /** What keeps the gateway from being ready; null when nothing does. */
  readonly obstacle: string | null
  /** What clients that seal would refuse. */
  readonly degraded: readonly string[]
  readonly samples: readonly Sample[]
  readonly backends: readonly Backend[]
  /** Of a minute ago; empty without such a reading. */
  readonly earlier: readonly Backend[]
}

const dayInSeconds = 86_400

const ofBackend = (now: Backend, before: Backend | null): readonly Trouble[] => {
  const state = stateOf(now, before)
  const since = before === null || now.answered === 0 ? 'since the gateway started' : 'in the last minute'
  if (state === 'bad') return [{ grave: true, words: `Backend ${now.name}: no call was answered ${since}.` }]
  if (state === 'mixed') return [{ grave: false, words: `Backend ${now.name}: some calls failed ${since}.` }]
  return []
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
export const troublesOf = ({ obstacle, degraded, samples, backends, earlier }: GatewayState): readonly Trouble[] => {
  const all = [
    ...(obstacle === null ? [] : [{ grave: true, words: `The gateway is not ready: ${obstacle}.` }]),
    ...degraded.map((piece) => ({
      grave: true,
      words:
        piece === 'evidence'
          ? 'The gateway refuses the evidence of its own enclave.'
          : `Clients that seal refuse this gateway: ${piece} is missing or has ended.`,
    })),
    ...backends.flatMap((it) => ofBackend(it, earlier.find(({ name }) => name === it.name) ?? null)),
    ...budgetsOf(samples).flatMap(ofBudget),
    ...samples.flatMap(ofEvidence),
  ]
  return all.toSorted((one, other) => Number(other.grave) - Number(one.grave))
}
