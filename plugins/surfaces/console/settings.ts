import * as v from 'valibot'
import { section } from '../../../core/ports/section.ts'

const ms = v.pipe(v.number(), v.integer(), v.minValue(1))

const shape = v.optional(
  v.strictObject({
    /** Ms that a session lasts at most. */
    session: v.optional(v.pipe(ms, v.maxValue(86_400_000)), 28_800_000),
    /** Ms after which a session ends that nobody uses. */
    idle: v.optional(v.pipe(ms, v.maxValue(86_400_000)), 3_600_000),
  }),
  {},
)

/** How long a session of the console lasts. */
export const consoleSettings = section('console', shape)
