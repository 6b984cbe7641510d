import * as v from 'valibot'
import { defaultQueue } from '../shared/fair-shares.ts'
import { kemNames } from './wire/kem-names.ts'

const minute = 60_000
const count = v.pipe(v.number(), v.integer(), v.minValue(1))

/** The settings of the enclave, which its release digest binds. */
export const InsideShape = v.strictObject({
  /** Ms that a key may be sealed to: ten minutes to a day. */
  epoch: v.optional(v.pipe(v.number(), v.integer(), v.minValue(10 * minute), v.maxValue(1440 * minute)), 60 * minute),
  /** Key encapsulations that the enclave offers to clients. All that the gateway knows when absent. */
  kems: v.optional(v.pipe(v.array(v.picklist(kemNames)), v.minLength(1)), [...kemNames]),
  requireBinding: v.optional(v.boolean(), false),
  retrieval: v.optional(
    v.strictObject({
      /** The embedding model; when absent search goes by words alone. */
      model: v.optional(v.string()),
      /** Bytes of opened indexes that are kept in memory. */
      cache: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 256 * 1024 * 1024),
      /** Bytes of opened indexes that one search may hold; a search of more is refused as too large. */
      most: v.optional(count, 1024 * 1024 * 1024),
    }),
    {},
  ),
  /** Jobs with files that may wait for their turn; a call beyond them is refused as busy. */
  queue: v.optional(
    v.strictObject({
      all: v.optional(count, defaultQueue.all),
      organization: v.optional(count, defaultQueue.organization),
    }),
    {},
  ),
  /** Bytes of files that are open at once. An organisation may hold half of them, a key a quarter, and each at least one file. */
  openBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1024 * 1024)), 512 * 1024 * 1024),
})

/** The settings as an operator writes them: every field may be absent. */
export type InsideSettings = v.InferInput<typeof InsideShape>
