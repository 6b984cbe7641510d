/** As keysets and configurations call them. */
export const kemNames = ['x-wing', 'ml-kem-768', 'x25519'] as const

export type KemName = (typeof kemNames)[number]
