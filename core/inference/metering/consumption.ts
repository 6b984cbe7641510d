import type { Usage } from '../../ports/usage.ts'

/** All that a call may be charged for. */
export interface Consumption extends Usage {
  /** Characters that were spoken: these are charged instead of the tokens of the text. */
  readonly characters?: number | undefined
  readonly images?: number | undefined
  readonly seconds?: number
  /** How many calls these are together; 1 when absent. */
  readonly calls?: number
  /** Backends that broke amid the answer, each with all counts up to its end. */
  readonly broken?: readonly { readonly by: string; readonly upTo: Usage }[]
}

/** Which column of the price table a call falls under. */
export type Mode = 'standard' | 'confidential'
