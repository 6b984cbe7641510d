import * as v from 'valibot'

/** No slash at the end, since each path begins with one. */
const base = v.pipe(v.string(), v.regex(/^https?:\/\/[^\s?#]+[^\s?#/]$/, 'an http or https URL without a query'))

/** The sources of certificates and lists that the gateway adds to evidence. */
export const CollateralShape = v.strictObject({
  /** AMD's key service. */
  amd: v.optional(base, 'https://kdsintf.amd.com'),
  /** Intel's service of platform data. */
  intel: v.optional(base, 'https://api.trustedservices.intel.com'),
  /** The revocation list of Intel's root. */
  intelRootList: v.optional(base, 'https://certificates.trustedservices.intel.com/IntelSGXRootCA.der'),
  /** A folder with the same files; with it, the gateway asks no service. */
  folder: v.optional(v.string()),
})

export type CollateralSettings = v.InferOutput<typeof CollateralShape>
