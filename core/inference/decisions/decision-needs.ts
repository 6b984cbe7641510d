import type { Supplied } from '../../container.ts'
import { Clock } from '../../ports/platform.ts'
import { Settings } from '../../settings.ts'
import { Inference } from '../inference.ts'
import { Meter } from '../metering/meter.ts'
import { Catalog } from '../models/catalog.ts'

/** The needs of routes that decide. The gateway supplies them at its start, before the first decision loads the rest. */
export const decisionNeeds = { catalog: Catalog, inference: Inference, meter: Meter, settings: Settings, clock: Clock }

/** The same as supplied to a handler. */
export type CallerDecisionNeeds = Supplied<typeof decisionNeeds>
