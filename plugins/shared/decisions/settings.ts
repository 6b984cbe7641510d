import * as v from 'valibot'
import { mostEscalations } from './typed-decision.ts'
import { section } from '../../../core/ports/section.ts'

const count = v.pipe(v.number(), v.integer(), v.minValue(1))

const escalation = v.strictObject({
  below: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  to: v.string(),
  /** Models that are asked one after the other; the next one is that of `escalateFrom`. */
  most: v.optional(v.pipe(count, v.maxValue(mostEscalations)), 1),
})

const shape = v.optional(
  v.strictObject({
    default: v.optional(v.string()),
    aliases: v.optional(v.record(v.string(), v.string()), {}),
    /** Places a key. */
    places: v.optional(count, 4),
    /** Ask a larger model again where confidence stays below. */
    escalate: v.optional(escalation),
    /** The same by the name of the model that is not sure; takes the place of `escalate`. */
    escalateFrom: v.optional(v.record(v.string(), escalation), {}),
  }),
  {},
)

/** Which models decide, and how many decisions a key has at once. */
export const decisionSettings = section('decision', shape, {
  models: ({ default: byDefault, aliases, escalate, escalateFrom }) => [
    ['decision.default', byDefault],
    ...Object.entries(aliases).map(([alias, model]) => [`decision.aliases.${alias}`, model] as const),
    ['decision.escalate.to', escalate?.to],
    ...Object.entries(escalateFrom).flatMap(([from, { to }]) => [
      [`decision.escalateFrom.${from}`, from] as const,
      [`decision.escalateFrom.${from}.to`, to] as const,
    ]),
  ],
})
