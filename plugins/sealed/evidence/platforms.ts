import type { Platform } from './profiles.ts'

/** The values of `type` for which a verifier is built in. */
export const platforms = ['sev-snp', 'tdx', 'nitro'] as const

/** The built-in platform of this type; null for any other type. */
export const platformOf = (type: unknown): Platform | null => platforms.find((platform) => platform === type) ?? null
