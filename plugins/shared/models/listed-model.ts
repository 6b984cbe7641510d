import { createHash } from 'node:crypto'
import type { ModelType } from '../../../core/ports/upstream.ts'
import type { ModelSettings } from '../../../core/settings.ts'
import type { Mode } from '../../../core/inference/metering/consumption.ts'
import { pricesOf } from '../prices.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'

/** The types that a catalog may show. */
export const listedTypes = ['CHAT', 'AUDIO_TRANSCRIPTION', 'AUDIO_SPEECH', 'IMAGE'] as const

/**
 * Whether the catalog of this mode shows the model. Embedding and decision models are served and stand in no
 * catalog.
 */
export const isListed = ({ settings }: Listed, mode: Mode): boolean =>
  settings[mode] && (listedTypes as readonly ModelType[]).includes(settings.type)

type Listed = Pick<Entry, 'name' | 'settings'> & Partial<Pick<Entry, 'candidates'>>

/** A model as a catalog shows it with the prices of that catalog. */
export const catalogEntryOf = ({ name, settings, candidates = [] }: Listed, mode: Mode) => ({
  id: idOf(name, settings),
  object: 'model',
  created: settings.created,
  owned_by: settings.owned_by ?? candidates[0]?.provider ?? '',
  model: name,
  name: settings.name ?? name,
  description: settings.description,
  type: settings.type,
  input_modalities: settings.input_modalities ?? (settings.type === 'AUDIO_TRANSCRIPTION' ? ['audio'] : ['text']),
  price_config: { standard: {}, confidential: {}, [mode]: pricesOf(settings, mode) },
  regions: settings.regions,
  requires_auth: 1,
  usage_mode: usageMode(settings),
  visible_in_dashboard: 1,
  likes_count: 0,
  dislikes_count: 0,
  total_reviews: 0,
  rating_percent: 0,
})

const usageMode = ({ standard, confidential }: ModelSettings): string =>
  standard && confidential ? 'both' : confidential ? 'confidential' : 'standard'

const idOf = (name: string, settings: ModelSettings): number => settings.id ?? numberOf(name)

/** Models by the digits of their ids. Of two with the same one the first has it. */
export const idsOf = <E extends Listed>(entries: readonly E[]): ReadonlyMap<string, E> =>
  new Map(entries.toReversed().map((entry) => [String(idOf(entry.name, entry.settings)), entry]))

/** The same for one name everywhere: 48 bits, which every JSON reader keeps whole. */
const numberOf = (name: string): number => createHash('sha256').update(name).digest().readUIntBE(0, 6)
