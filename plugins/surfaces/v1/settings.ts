import * as v from 'valibot'
import { section } from '../../../core/ports/section.ts'

const ms = v.pipe(v.number(), v.integer(), v.minValue(1))

const socketShape = v.optional(
  v.strictObject({
    /** Open at once of one key. */
    most: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 16),
    /** Ms without a turn after which a connection ends. */
    idle: v.optional(ms, 300_000),
    /** Ms that a connection lives at most; a turn that plays may end first. */
    life: v.optional(ms, 3_600_000),
    /** Ms between two pings. A peer that answers none until the next one is gone. */
    ping: v.optional(ms, 30_000),
  }),
  {},
)

/** WebSockets at `/v1/responses`. */
export const sockets = section('sockets', socketShape)
