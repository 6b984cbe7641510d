/** What one test file said. */
export interface Told {
  readonly total: number
  readonly passed: number
  readonly failed: number
  /** Each with its reason. */
  readonly skipped: readonly string[]
  /** The lines of every failed check, with what explains it. */
  readonly complaints: readonly string[]
}

const figure = (sums: string, name: string): number => Number(new RegExp(`${name}: (\\d+)`).exec(sums)?.[1] ?? 0)

const complaintsIn = (lines: readonly string[]): readonly string[] => {
  const kept: string[] = []
  /** The spaces before the explanation that is being read; null outside of one. */
  let margin: string | null = null
  for (const [at, line] of lines.entries()) {
    if (margin !== null) {
      kept.push(line)
      if (line === `${margin}...`) margin = null
    } else if (/^ *not ok /.test(line) && !/ # (TODO|SKIP)\b/i.test(line)) {
      kept.push(line)
      const begun = /^( +)---$/.exec(lines[at + 1] ?? '')
      if (begun) margin = begun[1]!
    }
  }
  return kept
}

/** Reads the TAP of one process. Null when its last line of sums is missing: the process ended before its tests did. */
export const toldBy = (output: string): Told | null => {
  const lines = output.split('\n')
  const skipped = lines.flatMap((line) => /^ *ok \d+ - (.* # SKIP.*)$/.exec(line)?.[1] ?? [])
  const sums = lines.findLast((line) => /^# \{ total: \d+.*\}$/.test(line))
  const complaints = complaintsIn(lines)
  if (sums === undefined) {
    const whole = lines.find((line) => /^1\.\.0 # /.test(line))
    if (whole === undefined) return null
    return { total: 0, passed: 0, failed: 0, skipped: [...skipped, whole.slice(5)], complaints }
  }
  const [total, passed, failed] = ['total', 'pass', 'fail'].map((name) => figure(sums, name)) as [
    number,
    number,
    number,
  ]
  return { total, passed, failed, skipped, complaints }
}
