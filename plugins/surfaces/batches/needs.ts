import type { Supplied } from '../../../core/container.ts'
import { Meter } from '../../../core/inference/metering/meter.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { ChatFilter } from '../../../core/ports/chat-filter.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Clock, Log, Random } from '../../../core/ports/platform.ts'
import { Upstream } from '../../../core/ports/upstream.ts'
import { Settings } from '../../../core/settings.ts'
import { Keepsakes } from '../../shared/dialects/keepsakes.ts'

/** The needs of all routes of batches and their files. */
export const batchNeeds = {
  ...{ catalog: Catalog, meter: Meter, filters: ChatFilter, store: MetadataStore, upstreams: Upstream },
  ...{ settings: Settings, keepsakes: Keepsakes, clock: Clock, random: Random, log: Log },
}

export type Given = Supplied<typeof batchNeeds>
