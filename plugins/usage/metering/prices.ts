import type { ModelSettings, Settings } from '../../../core/settings.ts'
import type { Candidate } from '../../../core/inference/models/catalog-entry.ts'
import type { BilledModel } from '../../../core/inference/metering/meter.ts'
import type { Consumption, Mode } from '../../../core/inference/metering/consumption.ts'
import {
  type ConfiguredPrice,
  type Price,
  type PriceList,
  isPriced,
  priceSettings,
  pricesOf,
} from '../../shared/prices.ts'
import { costOf } from './cost-of.ts'

/** What calls cost: as configured for the model, and otherwise as a list says. */
export interface Prices {
  /** Millionths of the currency; null when a price that it needs is unknown. */
  costOf(entry: BilledModel, backend: string | null, mode: Mode, used: Consumption): number | null
  /**
   * The most that a call may cost, whichever backend answers; null when one of them has no price. A sealed call, whose
   * entry is null, may ask for the dearest of `sealed`.
   */
  mostOf(entry: BilledModel | null, mode: Mode, used: Consumption, sealed?: readonly BilledModel[]): number | null
}

/** Prices by these settings. A configured price of a model replaces a listed one as a whole. */
export const prices = (settings: Settings, lists: readonly PriceList[]): Prices => {
  const takesLists = areDollars(settings)

  const priceOf = ({ settings }: BilledModel, candidate: Candidate | null, mode: Mode): Price | null =>
    configured(settings, mode) ?? (takesLists && mode === 'standard' && candidate ? listed(lists, candidate) : null)

  const cost = (entry: BilledModel, candidate: Candidate | null, mode: Mode, used: Consumption): number | null => {
    if (entry.paidWith !== undefined && candidate?.upstream.takes?.includes(entry.paidWith) === true) return 0
    const price = priceOf(entry, candidate, mode)
    return price && costOf(price, used, { region: entry.settings.regions[0] ?? null, terms: entry.terms })
  }

  const mostOf = (entry: BilledModel, mode: Mode, used: Consumption): number | null => {
    const { candidates = [] } = entry
    if (candidates.length === 0) return cost(entry, null, mode, used)
    if (candidates.length === 1) return cost(entry, candidates[0]!, mode, used)
    return highestCost(candidates.map((candidate) => cost(entry, candidate, mode, used)))
  }

  const served = (mode: Mode): readonly BilledModel[] =>
    Object.entries(settings.models)
      .filter(([, model]) => model[mode])
      .map(([name, settings]) => ({ name, settings }))

  return {
    costOf: (entry, backend, mode, used) => {
      if (entry.candidates?.length === 1 && entry.candidates[0]!.provider === backend)
        return cost(entry, entry.candidates[0]!, mode, used)
      const candidates = (entry.candidates ?? []).filter(({ provider }) => provider === backend)
      return mostOf({ ...entry, candidates }, mode, used)
    },
    mostOf(entry, mode, used, sealed) {
      if (entry !== null) return mostOf(entry, mode, used)
      const costs = (sealed ?? served(mode)).map((model) => cost(model, null, mode, used))
      return highestCost(costs.filter((cost) => cost !== null))
    },
  }
}

/** Null of none, and where one is unknown. */
const highestCost = (costs: readonly (number | null)[]): number | null =>
  costs.reduce(
    (sum: number | null, highest, at) =>
      highest === null || (sum === null && at > 0) ? null : Math.max(sum ?? 0, highest),
    null,
  )

/** Of the first list that knows the model. */
const listed = (lists: readonly PriceList[], { upstream: { vendor }, model }: Candidate): Price | null => {
  if (vendor === undefined) return null
  for (const list of lists) {
    const price = list.price(vendor, model)
    if (price !== null) return price
  }
  return null
}

/** Lists are in US dollars, and are not added to prices of an unknown currency. */
export const areDollars = (settings: Settings): boolean => {
  const { currency } = priceSettings.of(settings)
  return currency === undefined ? Object.values(settings.models).every((model) => !isPriced(model)) : currency === 'USD'
}

/** What the configuration says of models, worked out once for each. */
const known = {
  standard: new WeakMap<ModelSettings, Price | null>(),
  confidential: new WeakMap<ModelSettings, Price | null>(),
}

/** The price in the first region that has one. */
const configured = (settings: ModelSettings, mode: Mode): Price | null => {
  let price = known[mode].get(settings)
  if (price === undefined) known[mode].set(settings, (price = priceIn(settings, mode)))
  return price
}

const priceIn = (model: ModelSettings, mode: Mode): Price | null => {
  const { regions } = model
  const table = pricesOf(model, mode)
  const price = regions.map((region) => table[region]).find((price) => price !== undefined) ?? Object.values(table)[0]
  return price === undefined ? null : unitsOf(price)
}

/** What the configuration leaves out costs what the plainer kind does. */
const unitsOf = (price: ConfiguredPrice): Price => {
  const input = times(price.prompt_price_per_k, 1e3)
  const output = times(price.completion_price_per_k, 1e3)
  const written = times(price.cache_write_price_per_k, 1e3) ?? input
  return {
    input,
    output,
    reasoning: times(price.reasoning_price_per_k, 1e3),
    cached: times(price.cached_price_per_k, 1e3) ?? input,
    written,
    writtenHour: times(price.cache_write_1h_price_per_k, 1e3) ?? written,
    audioInput: times(price.audio_prompt_price_per_k, 1e3) ?? input,
    audioOutput: times(price.audio_completion_price_per_k, 1e3) ?? output,
    character: times(price.character_price_per_k, 1e3),
    second: times(price.audio_price_per_min, 1e6 / 60),
    image: times(price.image_price, 1e6),
    request: times(price.request_price, 1e6),
    terms: { batch: price.batch_factor ?? 1 },
  }
}

const times = (price: number | undefined, units: number): number | undefined =>
  price === undefined ? undefined : price * units
