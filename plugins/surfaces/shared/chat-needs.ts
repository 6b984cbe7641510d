import { ChatFilter } from '../../../core/ports/chat-filter.ts'
import { CurrentTrace } from '../../../core/ports/observer.ts'
import { Log } from '../../../core/ports/platform.ts'
import { Inference } from '../../../core/inference/inference.ts'
import { Meter } from '../../../core/inference/metering/meter.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { ModelRules } from '../../shared/rules/rules.ts'

/** The needs of routes that answer chats. The gateway supplies them at its start, before the first chat loads the rest. */
export const chatNeeds = {
  catalog: Catalog,
  inference: Inference,
  meter: Meter,
  filters: ChatFilter,
  rules: ModelRules,
  traces: CurrentTrace,
}

/** The needs of routes that count the tokens of chats. */
export const countNeeds = { catalog: Catalog, inference: Inference, filters: ChatFilter, rules: ModelRules, log: Log }

/** The needs of routes that ask a backend once and book what was used. */
export const askNeeds = { catalog: Catalog, inference: Inference, meter: Meter }
