import { readFileSync, writeFileSync } from 'node:fs'
import type { Removal } from './removals.ts'

const kept = 'test/lab/mutations/evidence/removed.json'

/** The last verdict on the removal of each check, by its mark: the test that noticed it, or LIVES. */
export type Removed = ReadonlyMap<string, string>

export const readRemoved = (): Removed =>
  new Map(Object.entries(JSON.parse(readFileSync(kept, 'utf8')) as Readonly<Record<string, string>>))

/** Keeps the verdicts on checks that are still there. */
export const writeRemoved = (all: readonly Removal[], removed: Removed): void => {
  const known = all.flatMap(({ mark }) => {
    const verdict = removed.get(mark)
    return verdict === undefined ? [] : [[mark, verdict] as const]
  })
  writeFileSync(kept, `${JSON.stringify(Object.fromEntries(known.sort()), null, 2)}\n`)
}

/** Removals that change no outcome, each with the reason. */
const equivalent: readonly { readonly file: string; readonly begins: string; readonly because: string }[] = [
  {
    file: 'cbor.ts',
    begins: 'demand(at + length <= bytes.length',
    because: 'What is cut leaves the place beyond the end, which the last check refuses with the same reason.',
  },
  {
    file: 'der.ts',
    begins: "if (bytes.length > 4) return malformed('integer')",
    because: 'A longer minimal number is above 2^31, which the next line refuses with the same reason.',
  },
  {
    file: 'cbor.ts',
    begins: 'if (short > 27) return malformed()',
    because:
      'An argument of 16 bytes or more has to be at least 256^8. The bound of 2^53 refuses such a length with the same reason.',
  },
]

/** The reason why a removal changes no outcome; null for every other one. */
export const equivalence = ({ file, text }: Removal): string | null =>
  equivalent.find((listed) => listed.file === file && text.startsWith(listed.begins))?.because ?? null
