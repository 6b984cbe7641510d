import { ed25519 } from '@noble/curves/ed25519.js'
import { ml_dsa65 as mlDsa } from '@noble/post-quantum/ml-dsa.js'
import { fromHex, toHex } from './bytes.ts'

/** Two public keys, or the signatures of both, in hex. Both signatures must be valid. */
export interface Pair {
  readonly ed25519: string
  readonly ml_dsa_65: string
}

/** In bytes, for Ed25519 of RFC 8032 and ML-DSA-65 of FIPS 204. */
const sizes = { keys: { ed: 32, ml: 1952 }, signatures: { ed: 64, ml: 3309 } } as const

/** Null when a value has another length. */
export const bytesOfPair = (pair: Pair, kind: keyof typeof sizes): readonly [Uint8Array, Uint8Array] | null => {
  const size = sizes[kind]
  const [ed, ml] = [fromHex(pair.ed25519, size.ed), fromHex(pair.ml_dsa_65, size.ml)]
  return ed?.length === size.ed && ml?.length === size.ml ? [ed, ml] : null
}

/** New keys that stay in this memory. Only the enclave may make them. */
export const signingPair = (): { readonly keys: Pair; sign(data: Uint8Array): Pair } => {
  const [ed, ml] = [ed25519.keygen(), mlDsa.keygen()]
  return {
    keys: { ed25519: toHex(ed.publicKey), ml_dsa_65: toHex(ml.publicKey) },
    sign: (data) => ({
      ed25519: toHex(ed25519.sign(data, ed.secretKey)),
      ml_dsa_65: toHex(mlDsa.sign(data, ml.secretKey)),
    }),
  }
}

/** True when both signatures are valid. Malformed keys and points give false. */
export const holds = (signatures: Pair, data: Uint8Array, keys: Pair): boolean => {
  const [made, by] = [bytesOfPair(signatures, 'signatures'), bytesOfPair(keys, 'keys')]
  if (made === null || by === null) return false
  try {
    return ed25519.verify(made[0], data, by[0], { zip215: false }) && mlDsa.verify(made[1], data, by[1])
  } catch {
    return false
  }
}
