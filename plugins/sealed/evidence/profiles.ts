import type { SnpRules } from './snp.ts'
import { guestPolicy, platformInfo } from './snp-bits.ts'

/**
 * `standard` is the least that a client accepts; `strict` is for operators of chosen machines. `dev` is `standard` that also
 * accepts a backend whose evidence binds its TLS key alone.
 */
export type Profile = 'standard' | 'strict' | 'dev'
/** The platforms with a built-in verifier. */
export type Platform = 'sev-snp' | 'tdx' | 'nitro'

const day = 86_400_000

/** The demands of a profile, none of which a policy can loosen. */
type Fixed = Pick<SnpRules, 'products' | 'guestNeeds' | 'platformNeeds' | 'platformRefuses' | 'vmpl' | 'grace'>

const standard: Fixed = {
  // Software can read the root seed of a Milan, so an attacker can forge every report of a Milan.
  products: ['Genoa', 'Turin'],
  guestNeeds: {},
  // BadRAM: memory that answers at two addresses.
  platformNeeds: { aliasCheck: platformInfo.aliasCheck },
  platformRefuses: { tio: platformInfo.tio },
  vmpl: 0,
  grace: 7 * day,
}

const strict: Fixed = {
  ...standard,
  products: ['Turin'],
  guestNeeds: {
    aes256: guestPolicy.aes256,
    raplOff: guestPolicy.raplOff,
    ciphertextHiding: guestPolicy.ciphertextHiding,
    // The Heracles attack needs to move pages.
    pageSwapOff: guestPolicy.pageSwapOff,
  },
  platformNeeds: {
    ...standard.platformNeeds,
    ecc: platformInfo.ecc,
    raplOff: platformInfo.raplOff,
    ciphertextHiding: platformInfo.ciphertextHiding,
  },
  platformRefuses: { ...standard.platformRefuses, smt: platformInfo.smt },
}

/** The demands of each profile on SEV-SNP. A policy can only add to them. */
export const snpProfiles: Readonly<Record<Profile, Fixed>> = { standard, strict, dev: standard }
