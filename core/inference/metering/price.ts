import type { Usage } from '../../ports/usage.ts'

/** Millionths of a currency for one token, character, second, image or request each; what is absent is unknown. */
export interface Price {
  readonly input?: number | undefined
  readonly output?: number | undefined
  /** As `output` when absent. */
  readonly reasoning?: number | undefined
  readonly cached?: number | undefined
  /** Written to the backend's prompt cache for five minutes. */
  readonly written?: number | undefined
  /** The same for an hour. */
  readonly writtenHour?: number | undefined
  readonly audioInput?: number | undefined
  readonly audioOutput?: number | undefined
  readonly character?: number | undefined
  readonly second?: number | undefined
  readonly image?: number | undefined
  /** None when absent. */
  readonly request?: number | undefined
  /** What holds instead for the whole of a call that reads more tokens than that. */
  readonly long?: Price & { readonly above: number }
  /** What a call in a batch is multiplied by. */
  readonly batch?: number | undefined
  /** The same by region. */
  readonly regions?: Readonly<Record<string, number>>
}

/** All that a call may be charged for. */
export interface Consumption extends Usage {
  /** Characters that were spoken: these are charged instead of the tokens of the text. */
  readonly characters?: number
  readonly images?: number
  readonly seconds?: number
  /** How many calls these are together; 1 when absent. */
  readonly calls?: number
}

/** Which column of the price table a call falls under. */
export type Mode = 'standard' | 'confidential'
