import type { ModelType } from '../../ports/upstream.ts'
import type { Settings } from '../../settings.ts'
import type { Entry } from '../models/catalog-entry.ts'
import type { Consumption } from './price.ts'
import { type Mode, prices } from './prices.ts'
import { shipped } from './shipped-prices.ts'

/** What `Gateway.prices` gives, so that operators find unpriced models before their budgets refuse calls. */
export interface PriceCheck {
  /** Every served model with every backend of it. */
  readonly models: readonly Priced[]
  /** Of which day the shipped price list of each vendor is. */
  readonly lists: Readonly<Record<string, string>>
}

/** Whether calls of a served model have a known price. */
export interface Priced {
  readonly model: string
  readonly mode: Mode
  /** The provider; null where the price does not depend on it. */
  readonly backend: string | null
  readonly known: boolean
}

const text = { input: 1, output: 1 }

/** A call that needs each price without which a model of the kind can't be charged. */
const samples: Readonly<Record<ModelType, Consumption>> = {
  CHAT: text,
  DECISION: text,
  EMBEDDING: { input: 1, output: 0 },
  IMAGE: { input: 0, output: 0, images: 1, estimated: true },
  AUDIO_SPEECH: { input: 1, output: 0, characters: 1 },
  AUDIO_TRANSCRIPTION: { input: 0, output: 0, seconds: 1 },
}

/** Prices a sample call of each model by the rules of real calls, so both always agree. */
export const pricesOf = (entries: readonly Entry[], settings: Settings): PriceCheck => {
  const { costOf } = prices(settings)
  const models = entries.flatMap((entry): Priced[] => {
    const { name: model, settings, candidates } = entry
    const known = (mode: Mode, backend: string | null) => costOf(entry, backend, mode, samples[settings.type]) !== null
    return [
      ...(settings.standard
        ? candidates.map(({ provider: backend }) => {
            return { model, mode: 'standard' as const, backend, known: known('standard', backend) }
          })
        : []),
      ...(settings.confidential
        ? [{ model, mode: 'confidential' as const, backend: null, known: known('confidential', null) }]
        : []),
    ]
  })
  return { models, lists: Object.fromEntries(Object.entries(shipped).map(([vendor, { asOf }]) => [vendor, asOf])) }
}
