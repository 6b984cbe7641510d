import type { RequestListener, Server } from 'node:http'
import { many } from '../container.ts'

/** A part that works from the start of the gateway to its end, such as a sweep or an answer to sibling processes. */
export interface Started {
  /** Told of each server of the gateway before it listens. */
  served?(server: Server, listener: RequestListener): void
  /** Called once, when the whole gateway ends. */
  dispose?(): Promise<void> | void
}

export const Started = many<Started>('Started')
