// The polynomials of ML-KEM (FIPS 203). No branch, no division and no place in memory depends on a coefficient.

/** The modulus, and the length of a polynomial. */
export const q = 3329
export const length = 256

/** Coefficients between -q and q, of which each stands for its remainder. */
export type Poly = Int32Array

export const poly = (): Poly => new Int32Array(length)

/** Three of them, as ML-KEM-768 has it. */
export const vector = (): readonly Poly[] => [poly(), poly(), poly()]

/** a / 2^16 modulo q, by Montgomery, for |a| < 2^15 q. */
const reduced = (a: number): number => (a - ((Math.imul(a, -3327) << 16) >> 16) * q) >> 16

/** The remainder next to zero, by Barrett, for |a| < 2^15. */
const centred = (a: number): number => a - ((Math.imul(a, 20159) + (1 << 25)) >> 26) * q

/** The remainder from 0 to q - 1, for |a| < 2^15. */
export const remainder = (a: number): number => {
  const near = centred(a)
  return near + ((near >> 31) & q)
}

/** The powers of 17 times 2^16, in the order of the transform: the bits of a place stand in reverse. */
const zetas = Int32Array.from({ length: 128 }, (_, at) => {
  const exponent = Number.parseInt([...at.toString(2).padStart(7, '0')].reverse().join(''), 2)
  let power = 2 ** 16 % q
  for (let times = 0; times < exponent; times++) power = (power * 17) % q
  return centred(power)
})

/** The number-theoretic transform (algorithm 9). */
export const transform = (a: Poly): void => {
  for (let size = 128, k = 1; size >= 2; size >>= 1) {
    for (let start = 0; start < length; start += 2 * size, k++) {
      const zeta = zetas[k]!
      for (let at = start; at < start + size; at++) {
        const turned = reduced(Math.imul(zeta, a[at + size]!))
        a[at + size] = a[at]! - turned
        a[at] = a[at]! + turned
      }
    }
  }
  for (let at = 0; at < length; at++) a[at] = centred(a[at]!)
}

/** Its inverse (algorithm 10), times the 2^16 that a product has lost. */
const invert = (a: Poly): void => {
  for (let size = 2, k = 127; size <= 128; size <<= 1) {
    for (let start = 0; start < length; start += 2 * size, k--) {
      const zeta = zetas[k]!
      for (let at = start; at < start + size; at++) {
        const low = a[at]!
        const high = a[at + size]!
        a[at] = centred(low + high)
        a[at + size] = reduced(Math.imul(zeta, high - low))
      }
    }
  }
  for (let at = 0; at < length; at++) a[at] = reduced(Math.imul(a[at]!, 1441))
}

/** The sum of the products of two transformed vectors (algorithm 11), transformed back. */
export const multiply = (one: readonly Poly[], other: readonly Poly[], into: Poly): void => {
  into.fill(0)
  for (let row = 0; row < one.length; row++) {
    const a = one[row]!
    const b = other[row]!
    for (let at = 0; at < length; at += 2) {
      const zeta = at & 2 ? -zetas[64 + (at >> 2)]! : zetas[64 + (at >> 2)]!
      const turned = reduced(Math.imul(reduced(Math.imul(a[at + 1]!, b[at + 1]!)), zeta))
      into[at]! += turned + reduced(Math.imul(a[at]!, b[at]!))
      into[at + 1]! += reduced(Math.imul(a[at]!, b[at + 1]!)) + reduced(Math.imul(a[at + 1]!, b[at]!))
    }
  }
  for (let at = 0; at < length; at++) into[at] = centred(into[at]!)
  invert(into)
}

/** Reads numbers of `bits` bits each, the lowest bit first. */
export const unpack = (bytes: Uint8Array, bits: number, into: Poly): void => {
  for (let at = 0, held = 0, has = 0, byte = 0; at < length; at++) {
    for (; has < bits; has += 8) held |= bytes[byte++]! << has
    into[at] = held & ((1 << bits) - 1)
    held >>>= bits
    has -= bits
  }
}

/** Adds small noise: the difference of two pairs of bits (algorithm 8). */
export const addNoise = (bytes: Uint8Array, into: Poly): void => {
  for (let at = 0; at < length; at += 2) {
    const byte = bytes[at >> 1]!
    const pairs = (byte & 0x55) + ((byte >> 1) & 0x55)
    into[at]! += (pairs & 3) - ((pairs >> 2) & 3)
    into[at + 1]! += ((pairs >> 4) & 3) - ((pairs >> 6) & 3)
  }
}
