import type { Sample } from './prometheus.ts'

export interface Budget {
  /** Whose it is, in words. */
  readonly holder: string
  readonly period: string
  /** The part that is used or reserved; above 1 where a soft budget is passed. */
  readonly share: number
}

/** The budgets of the gateway, of organisations and of teams as a process last saw them, the tightest first. */
export const budgetsOf = (samples: readonly Sample[]): readonly Budget[] =>
  samples
    .filter(({ name }) => name === 'sealgate_budget_share')
    .map(({ labels: { of = '', whose = '', period = '' }, value }) => ({
      holder: of === 'gateway' ? 'the gateway' : `${of === 'team' ? 'team' : 'organisation'} ${whose}`,
      period,
      share: value,
    }))
    .sort((one, other) => other.share - one.share)
