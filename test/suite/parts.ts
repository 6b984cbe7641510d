/** The variable with the files of a shared process, as JSON. */
export const filesVariable = 'SEALGATE_TURN'

/** What one file of a shared process said, with its sums as a process of its own prints them. */
export interface Part {
  readonly output: string
  readonly ms: number
  /** Of this process and of those that it waited for. */
  readonly cpuMs: number
}

/** The check that follows those of a file in a shared process. */
export const lastCheck = (file: string): string => `the end of ${file}`

/** The comment that ends the output of a file in a shared process. */
export const playedLine = (file: string, ms: number, cpuMs: number): string =>
  `played ${file} in ${Math.round(ms)} ms, ${Math.round(cpuMs)} ms of CPU`

/** The sums of the checks that have no checks inside them, without the last one, which is not the file's. */
const sumsOf = (lines: readonly string[], file: string): string => {
  const sums = { total: 0, pass: 0, fail: 0, skip: 0 }
  /** The margin of the explanation that is being read; null outside of one. */
  let margin: string | null = null
  /** The margin of the subtest that has just ended with checks of its own; null when none has. */
  let inside: string | null = null
  for (const line of lines) {
    if (margin !== null) {
      if (line === `${margin}...`) margin = null
      continue
    }
    margin = /^( *)---$/.exec(line)?.[1] ?? null
    inside = /^( +)1\.\.[1-9]/.exec(line)?.[1] ?? inside
    const [, before, not, name] = /^( *)(not )?ok \d+(?: - (.*))?$/.exec(line) ?? []
    if (before === undefined) continue
    const isSum = inside === `${before}    `
    inside = null
    if (isSum || name?.startsWith(lastCheck(file))) continue
    sums.total++
    const isLeftOut = / # (SKIP|TODO)\b/i.test(name ?? '')
    sums[isLeftOut ? 'skip' : not ? 'fail' : 'pass']++
  }
  return `# { total: ${sums.total}, pass: ${sums.pass}, fail: ${sums.fail}, skip: ${sums.skip} }`
}

/** The parts of a shared process's output, by file, and what stands after the last of them. */
export const partsOf = (output: string): { readonly parts: ReadonlyMap<string, Part>; readonly rest: string } => {
  const parts = new Map<string, Part>()
  let lines: string[] = []
  for (const line of output.split('\n')) {
    const [, file, ms, cpuMs] = /^# played (\S+) in (\d+) ms, (\d+) ms of CPU$/.exec(line) ?? []
    if (file === undefined) {
      lines.push(line)
      continue
    }
    parts.set(file, { output: [...lines, sumsOf(lines, file)].join('\n'), ms: Number(ms), cpuMs: Number(cpuMs) })
    lines = []
  }
  return { parts, rest: lines.join('\n') }
}
