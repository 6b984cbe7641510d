import * as v from 'valibot'
import { kemNames } from './wire/kem-names.ts'

const minute = 60_000

/** What the inside is told, and what its release digest binds. */
export const InsideShape = v.strictObject({
  /** Ms that a key may be sealed to: ten minutes to a day. */
  epoch: v.optional(v.pipe(v.number(), v.integer(), v.minValue(10 * minute), v.maxValue(1440 * minute)), 60 * minute),
  kems: v.optional(v.pipe(v.array(v.picklist(kemNames)), v.minLength(1)), [...kemNames]),
  requireBinding: v.optional(v.boolean(), false),
  retrieval: v.optional(
    v.strictObject({
      /** The embedding model; the first that is there when absent. */
      model: v.optional(v.string()),
      /** Bytes of opened indexes that are kept in memory. */
      cache: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 256 * 1024 * 1024),
    }),
    {},
  ),
})

export type InsideSettings = v.InferInput<typeof InsideShape>
