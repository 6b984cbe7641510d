import type { Supplied } from '../../../core/container.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { Settings } from '../../../core/settings.ts'
import { Inference } from '../../../core/inference/inference.ts'
import { Meter } from '../../../core/inference/metering/meter.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'

/** The needs of routes that decide. The gateway supplies them at its start, before the first decision loads the rest. */
export const decisionNeeds = { catalog: Catalog, inference: Inference, meter: Meter, settings: Settings, clock: Clock }

/** The same as supplied to a handler. */
export type CallerDecisionNeeds = Supplied<typeof decisionNeeds>
