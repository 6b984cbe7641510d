import * as v from 'valibot'

const base = v.pipe(v.string(), v.regex(/^https?:\/\/[^\s?#]+[^\s?#/]$/, 'an http or https URL without a query'))

/** Where the gateway finds what is shipped beside evidence. */
export const CollateralShape = v.strictObject({
  /** AMD's key service. */
  amd: v.optional(base, 'https://kdsintf.amd.com'),
  /** Intel's service of platform data. */
  intel: v.optional(base, 'https://api.trustedservices.intel.com'),
  /** The revocation list of Intel's root. */
  intelRootList: v.optional(base, 'https://certificates.trustedservices.intel.com/IntelSGXRootCA.der'),
  /** A folder with the same pieces; then no service is asked. */
  folder: v.optional(v.string()),
})

export type CollateralSettings = v.InferOutput<typeof CollateralShape>
