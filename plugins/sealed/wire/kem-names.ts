/** The names in keysets and configurations. */
export const kemNames = ['x-wing', 'ml-kem-768', 'x25519'] as const

export type KemName = (typeof kemNames)[number]

/** The lengths of a key agreement. The gateway knows the lengths and has no code to agree on a key. */
export interface Kem {
  readonly name: KemName
  /** The HPKE number. */
  readonly id: number
  /** In bytes, like the next two. */
  readonly seed: number
  readonly publicKey: number
  /** The length of the cipher text identifies the KEM of a request. */
  readonly cipherText: number
}

/** X-Wing and ML-KEM-768 withstand quantum computers. X25519 alone is for short-lived data. */
export const kems: readonly Kem[] = [
  { name: 'x-wing', id: 0x647a, seed: 32, publicKey: 1216, cipherText: 1120 },
  { name: 'ml-kem-768', id: 0x0041, seed: 64, publicKey: 1184, cipherText: 1088 },
  { name: 'x25519', id: 0x0020, seed: 32, publicKey: 32, cipherText: 32 },
]

/** Null when no KEM has cipher texts of this length. `cipherText` in bytes. */
export const kemOf = (cipherText: number): Kem | null => kems.find((kem) => kem.cipherText === cipherText) ?? null
