import { Guard } from '../ports/guard.ts'
import { Log } from '../ports/platform.ts'
import { Inference } from './inference.ts'
import { Meter } from './metering/meter.ts'
import { Catalog } from './models/catalog.ts'

/** The needs of routes that answer chats. The gateway supplies them at its start, before the first chat loads the rest. */
export const chatNeeds = { catalog: Catalog, inference: Inference, meter: Meter, guards: Guard }

/** The needs of routes that count the tokens of chats. */
export const countNeeds = { catalog: Catalog, inference: Inference, guards: Guard, log: Log }
