import * as v from 'valibot'
import { CollateralShape } from './collateral.ts'

const ms = (least: number, most: number) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most))

/** The evidence that an upstream's backend must give before it gets a request. */
export const BackendEvidenceShape = v.strictObject({
  /** The form of the evidence. */
  kind: v.string(),
  /** The demands on the backend's platform, in the form of a client's policy; with `services` for a service that exists. */
  policy: v.looseObject({}),
  /** `any`: the evidence alone proves the TLS key, and the certificate may be self-signed. */
  certificate: v.optional(v.picklist(['authority', 'any']), 'authority'),
  /** In ms: the age at which evidence is asked for anew. Evidence counts for twice as long at most. */
  renew: v.optional(ms(1_000, 3_600_000), 600_000),
  /** In ms: the longest wait for the document. */
  timeout: v.optional(ms(100, 60_000), 10_000),
  /** Where certificates and lists come from that a service does not lay beside its evidence. */
  collateral: v.optional(CollateralShape, {}),
})

/** With all defaults filled in. */
export type BackendEvidenceSettings = v.InferOutput<typeof BackendEvidenceShape>
