import { one } from '../../container.ts'
import type { Ability, Entry } from './catalog-entry.ts'

/** The models of all upstreams as one list. */
export interface Catalog {
  /** By the name, or by the `id` of the catalogs in digits. `ability` is what a call needs; absent for a look at the model. */
  find(model: string, signal: AbortSignal, ability?: Ability): Promise<Entry | null>
  /** The same at once, where the model is known now; null where `find` has to look. */
  recall(model: string): Entry | null
  /** False while a provider has not told its models: an unlisted model may still exist. */
  isWhole(): boolean
  /** In the order of the configuration, or by name when the providers' own lists are served. */
  list(signal: AbortSignal): Promise<readonly Entry[]>
  /** A reload gives these providers anew, so what they listed before counts no more. Called before the first look. */
  replaced?(providers: readonly string[]): Promise<void>
}

/** The port of the models. */
export const Catalog = one<Catalog>('Catalog')
