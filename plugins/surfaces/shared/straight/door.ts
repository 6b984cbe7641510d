import type { GenericSchema } from 'valibot'
import type { Shown } from '../answering.ts'
import type { Asked, Talk } from '../talk.ts'

/** How the chats of one dialect are read and answered. */
export interface Door<Input, Given> {
  readonly schema: GenericSchema<unknown, Input>
  /** Present for the common format: events of a stream may be cut and joined as bytes. */
  readonly shown?: Shown
  /** Throws BadRequest for a request that no backend gets. */
  talk(wanted: Asked<Input>, given: Given): Talk
}
