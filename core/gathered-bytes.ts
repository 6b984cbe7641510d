/** Bytes of the first piece of memory, and of the largest one after it. */
const [leastBytes, mostBytes] = [4 * 1024, 4 * 1024 * 1024]

/** Bytes that come in parts. */
export interface GatheredBytes {
  readonly length: number
  add(part: Uint8Array): void
  /** All of them in one buffer. Gathering ends with it, and holds no piece: who gathered may live much longer. */
  whole(): Buffer<ArrayBuffer>
}

/**
 * Copies parts into pieces of memory that grow, since an object for each part would cost hundreds of bytes beside a
 * part of one. With an `expected` length there is one piece of that length.
 */
export const gatheredBytes = (expected: number | null = null): GatheredBytes => {
  const full: Uint8Array[] = []
  let piece = new Uint8Array(0)
  let used = 0
  let length = 0

  return {
    get length() {
      return length
    },
    add(part) {
      length += part.length
      const fitting = Math.min(part.length, piece.length - used)
      piece.set(fitting === part.length ? part : part.subarray(0, fitting), used)
      used += fitting
      if (fitting === part.length) return
      if (used > 0) full.push(piece)
      const rest = part.subarray(fitting)
      const usual = full.length > 0 ? null : expected
      piece = new Uint8Array(Math.max(rest.length, usual ?? Math.min(mostBytes, Math.max(leastBytes, length))))
      piece.set(rest)
      used = rest.length
    },
    whole() {
      const last = piece.subarray(0, used)
      piece = new Uint8Array(0)
      if (full.length === 0) return Buffer.from(last.buffer, 0, used)
      const whole = Buffer.from(new ArrayBuffer(length))
      let at = 0
      full.push(last)
      for (let next = full.shift(); next !== undefined; next = full.shift()) {
        whole.set(next, at)
        at += next.length
      }
      return whole
    },
  }
}
