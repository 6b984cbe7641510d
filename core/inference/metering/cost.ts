import type { Usage } from '../../ports/upstream.ts'
import type { ModelSettings } from '../../settings.ts'

/** Which column of the price table a call falls under. */
export type Mode = 'standard' | 'confidential'

type Price = NonNullable<ModelSettings['price_config']['standard']>[string]

/** The price in the first region that has one. */
const priceOf = ({ price_config, regions }: ModelSettings, mode: Mode): Price | null => {
  const prices = price_config[mode] ?? {}
  for (const region of regions) if (prices[region]) return prices[region]
  return Object.values(prices)[0] ?? null
}

/** In millionths of the price table's currency; null when a price that it needs is unknown. */
export const costOf = (settings: ModelSettings, mode: Mode, usage: Usage): number | null => {
  const price = priceOf(settings, mode)
  if (price === null) return null
  const reasoning = usage.reasoning ?? 0
  const parts: readonly (readonly [number, number | undefined])[] = [
    [usage.input, price.prompt_price_per_k],
    [usage.output - reasoning, price.completion_price_per_k],
    [reasoning, price.reasoning_price_per_k ?? price.completion_price_per_k],
  ]
  return total(parts, 1000)
}

/** As `costOf`, for audio. */
export const audioCostOf = (settings: ModelSettings, mode: Mode, seconds: number): number | null =>
  total([[seconds, priceOf(settings, mode)?.audio_price_per_min]], 60)

const total = (
  parts: readonly (readonly [amount: number, price: number | undefined])[],
  per: number,
): number | null => {
  let cost = 0
  for (const [amount, price] of parts) {
    if (amount === 0) continue
    if (price === undefined) return null
    cost += (amount / per) * price
  }
  return Math.round(cost * 1e6)
}
