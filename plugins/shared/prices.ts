import * as v from 'valibot'
import { many } from '../../core/container.ts'
import type { Mode } from '../../core/inference/metering/consumption.ts'
import { section } from '../../core/ports/section.ts'
import type { ModelSettings } from '../../core/settings.ts'

const amount = v.pipe(v.number(), v.finite('a finite number'), v.minValue(0))

/** Prices in the currency of `prices.currency`, of 1,000 tokens or characters, a minute, a picture or a request. */
const price = v.strictObject({
  prompt_price_per_k: v.optional(amount),
  completion_price_per_k: v.optional(amount),
  reasoning_price_per_k: v.optional(amount),
  cached_price_per_k: v.optional(amount),
  cache_write_price_per_k: v.optional(amount),
  cache_write_1h_price_per_k: v.optional(amount),
  audio_prompt_price_per_k: v.optional(amount),
  audio_completion_price_per_k: v.optional(amount),
  character_price_per_k: v.optional(amount),
  audio_price_per_min: v.optional(amount),
  image_price: v.optional(amount),
  request_price: v.optional(amount),
  /** What a call in a batch is multiplied by; 1 when absent. */
  batch_factor: v.optional(amount),
})

const table = v.record(v.picklist(['standard', 'confidential']), v.record(v.string(), price))

const shape = v.optional(
  v.strictObject({
    /** Of all prices of this configuration. */
    currency: v.optional(v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'three capital letters such as USD'))),
  }),
  {},
)

const members = { price_config: v.optional(table, {}) }

/** The currency, and the prices of each model. */
export const priceSettings = section('prices', shape, { members })

/** The prices of a model as an operator writes them. */
export interface PricedInput {
  readonly price_config?: v.InferInput<typeof table> | undefined
}

/** The prices of one model in one region. */
export type ConfiguredPrice = v.InferOutput<typeof price>

/** The prices of a model by region; none where it has none. */
export const pricesOf = (model: ModelSettings, mode: Mode): Readonly<Record<string, ConfiguredPrice>> =>
  (model as PricedInput).price_config?.[mode] ?? {}

/** Whether the configuration has prices of the model, in whichever mode. */
export const isPriced = (model: ModelSettings): boolean =>
  Object.keys((model as PricedInput).price_config ?? {}).length > 0

/** The same model at these prices by region. */
export const pricedAt = (model: ModelSettings, standard: Readonly<Record<string, ConfiguredPrice>>): ModelSettings => {
  const priced = { ...model, price_config: { standard } }
  return priced
}

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
  /** What a call under these terms is multiplied by, by their names. */
  readonly terms?: Readonly<Record<string, number>>
  /** The same by region. */
  readonly regions?: Readonly<Record<string, number>>
}

/** Prices of models in US dollars, for models without a configured price. */
export interface PriceList {
  /** Null for an unknown model. An upstream names its `vendor`. */
  price(vendor: string, model: string): Price | null
}

export const PriceList = many<PriceList>('PriceList')
