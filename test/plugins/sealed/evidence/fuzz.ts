import t from 'tap'
import { Refusal } from '../../../../plugins/sealed/evidence/reasons.ts'

/** Cases for each reader: `SEALGATE_FUZZ=100000` asks for the whole run. */
export const cases = Number(process.env['SEALGATE_FUZZ'] ?? 2000)

/** Where bits are flipped: everywhere in the whole run, otherwise in one byte of thirteen, other ones each day. */
export function* places(length: number): Generator<number> {
  const step = cases >= 100_000 ? 1 : 13
  for (let at = new Date().getUTCDate() % step; at < length; at += step) yield at
}

/** The same numbers for the same seed. */
export const random = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Changed copies of the samples: bytes overwritten, cut, repeated, or all of them random. */
export const mutated = (samples: readonly Uint8Array[], pick: (below: number) => number): Uint8Array => {
  const from = samples[pick(samples.length)]!
  const kind = pick(10)
  if (kind === 0) return Uint8Array.from({ length: pick(600) }, () => pick(256))
  if (kind === 1) return from.slice(0, pick(from.length + 1))
  if (kind === 2) return Uint8Array.from([...from, ...from.subarray(0, pick(64))])
  const bytes = from.slice()
  for (let left = 1 + pick(4); left > 0; left--) bytes[pick(bytes.length)] = pick(256)
  return bytes
}

/** Shows that a reader throws nothing but refusals and takes less than a second for any case. */
export const fuzzed = (
  name: string,
  seed: number,
  samples: readonly Uint8Array[],
  read: (bytes: Uint8Array) => unknown,
): void => {
  void t.test(`${name}: ${cases} changed inputs`, async (t) => {
    const pick = random(seed)
    const before = process.memoryUsage().heapUsed
    let [refused, slowest] = [0, 0]
    for (let left = cases; left > 0; left--) {
      const bytes = mutated(samples, pick)
      const began = performance.now()
      try {
        await read(bytes)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        refused++
      }
      slowest = Math.max(slowest, performance.now() - began)
    }
    t.ok(refused > cases / 4, `${refused} refused`)
    t.ok(slowest < 1000, `slowest ${slowest.toFixed(1)} ms`)
    t.ok(process.memoryUsage().heapUsed - before < 256 * 1024 * 1024, 'bounded memory')
  })
}
