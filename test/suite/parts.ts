/** The variable with the files of a shared process, as JSON. */
export const filesVariable = 'SEALGATE_TURN'

/** Checks of one file: all, passed, failed, skipped. */
export type Sums = readonly [total: number, pass: number, fail: number, skip: number]

/** What one file of a shared process said, with its sums as a process of its own prints them. */
export interface Part {
  readonly output: string
  readonly ms: number
}

/** The comment that ends the output of a file in a shared process. */
export const playedLine = (file: string, ms: number, [total, pass, fail, skip]: Sums): string =>
  `played ${file} in ${Math.round(ms)} ms: { total: ${total}, pass: ${pass}, fail: ${fail}, skip: ${skip} }`

/** The parts of a shared process's output, by file, and what stands after the last of them. */
export const partsOf = (output: string): { readonly parts: ReadonlyMap<string, Part>; readonly rest: string } => {
  const parts = new Map<string, Part>()
  let lines: string[] = []
  for (const line of output.split('\n')) {
    const ended = /^# played (\S+) in (\d+) ms: (\{ total.*\})$/.exec(line)
    if (ended === null) {
      lines.push(line)
      continue
    }
    const [, file = '', ms, sums] = ended
    parts.set(file, { output: [...lines, `# ${sums}`].join('\n'), ms: Number(ms) })
    lines = []
  }
  return { parts, rest: lines.join('\n') }
}
