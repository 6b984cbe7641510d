/** Bits of the guest policy and the platform state in an SEV-SNP report. */
export const guestPolicy = {
  migrationAgent: 1n << 18n,
  debug: 1n << 19n,
  cxl: 1n << 21n,
  aes256: 1n << 22n,
  raplOff: 1n << 23n,
  ciphertextHiding: 1n << 24n,
  pageSwapOff: 1n << 25n,
} as const

/** Bits of PLATFORM_INFO, by AMD's specification 56860. */
export const platformInfo = {
  smt: 1n << 0n,
  ecc: 1n << 2n,
  raplOff: 1n << 3n,
  ciphertextHiding: 1n << 4n,
  aliasCheck: 1n << 5n,
  tio: 1n << 7n,
} as const
