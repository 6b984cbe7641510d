import type { Settings } from '../../settings.ts'

/** Counts calls and says when one more may be asked twice, so that hedged ones never pass their share. */
export interface Hedges {
  /** Ms of silence after which a second backend may be asked; null when hedging is off. */
  readonly after: number | null
  /** Each call earns its share of a hedge. */
  called(): void
  /** True when a hedge was left, which is then spent. */
  take(): boolean
}

/** Unused shares are kept for so many hedges and no more. */
const kept = 10

/** The earned part of a hedge is kept as a fraction, so a share of 0.05 gives one hedge to twenty calls. */
export const hedges = (settings: Settings['routing']['hedge']): Hedges => {
  let credit = 0
  return {
    after: settings?.after ?? null,
    called() {
      if (settings) credit = Math.min(kept, credit + settings.share)
    },
    take() {
      // Shares like 0.05 don't add up to 1 exactly.
      if (credit < 1 - 1e-9) return false
      credit -= 1
      return true
    },
  }
}
