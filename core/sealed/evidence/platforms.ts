import type { Platform } from './profiles.ts'

export const platforms = ['sev-snp', 'tdx', 'nitro'] as const

/** The built-in platform of this type; null for any other type. */
export const platformOf = (type: unknown): Platform | null => platforms.find((it) => it === type) ?? null
