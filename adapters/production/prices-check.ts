import type { ModelType } from '../../core/ports/upstream.ts'
import type { Container } from '../../core/container.ts'
import { Settings } from '../../core/settings.ts'
import { PriceList } from '../../plugins/shared/prices.ts'
import { Enclave } from '../../core/ports/enclave.ts'
import { Catalog } from '../../core/inference/models/catalog.ts'
import type { Entry } from '../../core/inference/models/catalog-entry.ts'
import type { BilledModel } from '../../core/inference/metering/meter.ts'
import type { Consumption, Mode } from '../../core/inference/metering/consumption.ts'
import { prices } from '../../plugins/usage/metering/prices.ts'
import { shipped } from '../../plugins/providers/shared/shipped-prices.ts'

/** Which prices are known, so that operators find unpriced models before their budgets refuse calls. */
export interface PriceCheck {
  /** Every served model with every backend of it. */
  readonly models: readonly Priced[]
  /** Why the enclave's models are missing; null where they are there. */
  readonly withoutEnclave: unknown
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

/** Prices a sample call of each model by the rules of real calls, so both always agree. `sealed` are the enclave's models. */
const pricesOf = (
  entries: readonly Entry[],
  sealed: readonly BilledModel[],
  gatewaySettings: Settings,
  lists: readonly PriceList[],
): Omit<PriceCheck, 'withoutEnclave'> => {
  const { costOf } = prices(gatewaySettings, lists)
  const priced = (entry: BilledModel, mode: Mode, backend: string | null): Priced => {
    const { name: model, settings } = entry
    return { model, mode, backend, known: costOf(entry, backend, mode, samples[settings.type]) !== null }
  }
  const standard = entries.filter(({ settings }) => settings.standard)
  const models = [
    ...standard.flatMap((entry) => entry.candidates.map(({ provider }) => priced(entry, 'standard', provider))),
    ...sealed.map((entry) => priced(entry, 'confidential', null)),
  ]
  return { models, lists: Object.fromEntries(Object.entries(shipped).map(([vendor, { asOf }]) => [vendor, asOf])) }
}

/** Of every served model and its backends, whether the price is known. */
export const pricesIn = async (supply: Container['supply'], signal: AbortSignal): Promise<PriceCheck> => {
  const needs = { catalog: Catalog, enclave: Enclave, settings: Settings, lists: PriceList }
  const { catalog, enclave, settings, lists } = supply(needs)
  let withoutEnclave: unknown = null
  const sealed = await enclave.models(signal).catch((fault: unknown) => {
    withoutEnclave = fault
    return []
  })
  return { ...pricesOf(await catalog.list(signal), sealed, settings, lists), withoutEnclave }
}
