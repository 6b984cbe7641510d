import type { ModelSettings, Settings } from '../../settings.ts'
import type { Candidate, Entry } from '../models/catalog-entry.ts'
import { type Consumption, costOf, type Price } from './price.ts'
import { shippedPrice } from './shipped-prices.ts'

/** Which column of the price table a call falls under. */
export type Mode = 'standard' | 'confidential'

/** What is charged for; without its backends only the configuration can tell its price. */
export type BilledModel = Pick<Entry, 'name' | 'settings'> & Partial<Pick<Entry, 'candidates'>>

type Configured = NonNullable<ModelSettings['price_config']['standard']>[string]

/** What calls cost: as configured for the model, and otherwise as the table says that ships with the package. */
export interface Prices {
  /** Millionths of the currency; null when a price that it needs is unknown. */
  costOf(entry: BilledModel, backend: string | null, mode: Mode, used: Consumption): number | null
  /** The most that it may cost, whichever backend answers; null when one of them has no price. */
  mostOf(entry: BilledModel | null, mode: Mode, used: Consumption): number | null
}

/** Prices by these settings. A configured price of a model replaces the shipped one as a whole. */
export const prices = (settings: Settings): Prices => {
  const ships = shipsPrices(settings)

  const priceOf = ({ settings }: BilledModel, candidate: Candidate | null, mode: Mode): Price | null =>
    configured(settings, mode) ?? (ships && mode === 'standard' && candidate ? listed(candidate) : null)

  const cost = (entry: BilledModel, candidate: Candidate | null, mode: Mode, used: Consumption): number | null => {
    const price = priceOf(entry, candidate, mode)
    return price && costOf(price, used, { region: entry.settings.regions[0] ?? null })
  }

  const mostOf = (entry: BilledModel, mode: Mode, used: Consumption): number | null => {
    const { candidates = [] } = entry
    if (candidates.length === 0) return cost(entry, null, mode, used)
    return highestCost(candidates.map((candidate) => cost(entry, candidate, mode, used)))
  }

  return {
    costOf: (entry, backend, mode, used) => {
      const candidates = (entry.candidates ?? []).filter(({ provider }) => provider === backend)
      return mostOf({ ...entry, candidates }, mode, used)
    },
    mostOf(entry, mode, used) {
      if (entry !== null) return mostOf(entry, mode, used)
      // Which model a sealed request asks for is not known out here: it may be the dearest.
      const served = Object.entries(settings.models).filter(([, it]) => it[mode])
      const known = served.map(([name, settings]) => cost({ name, settings }, null, mode, used))
      return highestCost(known.filter((it) => it !== null))
    },
  }
}

/** Null of none, and where one is unknown. */
const highestCost = (costs: readonly (number | null)[]): number | null =>
  costs.reduce(
    (sum: number | null, it, at) => (it === null || (sum === null && at > 0) ? null : Math.max(sum ?? 0, it)),
    null,
  )

const listed = ({ upstream, model }: Candidate): Price | null =>
  upstream.vendor === undefined ? null : shippedPrice(upstream.vendor, model)

/** The table is in US dollars, and is not added to prices of which nobody said that they are. */
const shipsPrices = ({ prices: { currency }, models }: Settings): boolean =>
  currency === undefined
    ? Object.values(models).every(({ price_config }) => Object.keys(price_config).length === 0)
    : currency === 'USD'

/** The price in the first region that has one. */
const configured = ({ price_config, regions }: ModelSettings, mode: Mode): Price | null => {
  const table = price_config[mode] ?? {}
  const price = regions.map((region) => table[region]).find((it) => it !== undefined) ?? Object.values(table)[0]
  return price === undefined ? null : unitsOf(price)
}

/** What the configuration leaves out costs what the plainer kind does. */
const unitsOf = (it: Configured): Price => {
  const input = times(it.prompt_price_per_k, 1e3)
  const output = times(it.completion_price_per_k, 1e3)
  const written = times(it.cache_write_price_per_k, 1e3) ?? input
  return {
    input,
    output,
    reasoning: times(it.reasoning_price_per_k, 1e3),
    cached: times(it.cached_price_per_k, 1e3) ?? input,
    written,
    writtenHour: times(it.cache_write_1h_price_per_k, 1e3) ?? written,
    audioInput: times(it.audio_prompt_price_per_k, 1e3) ?? input,
    audioOutput: times(it.audio_completion_price_per_k, 1e3) ?? output,
    character: times(it.character_price_per_k, 1e3),
    second: times(it.audio_price_per_min, 1e6 / 60),
    image: times(it.image_price, 1e6),
    request: times(it.request_price, 1e6),
  }
}

const times = (price: number | undefined, units: number): number | undefined =>
  price === undefined ? undefined : price * units
