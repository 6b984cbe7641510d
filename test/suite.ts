import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { endGroup } from './end-group.ts'
import { costs, cpuOfEnded } from './suite/cpu.ts'
import { filesVariable, partsOf } from './suite/parts.ts'
import { planned, type Turn } from './suite/plan.ts'
import { withSources } from './suite/sources.ts'
import { toldBy } from './tap-lines.ts'
import { seed } from './whole.ts'

/** `npm test`: large files of tests in processes of their own, and small ones together. Shows what fails and what is skipped, and the sums. */
const { values, positionals } = parseArgs({
  options: {
    /** Processes at once. Many tests wait more than they work. */
    jobs: { type: 'string', default: String(availableParallelism() + 2) },
    /** Seconds in which a file ends. */
    patience: { type: 'string', default: '300' },
    /** Whether the files that are named share a process. */
    together: { type: 'boolean', default: false },
    /** Plays the long files alone. */
    long: { type: 'boolean', default: false },
    /** How many files that failed beside others are measured once more, alone. The output names each of them. */
    again: { type: 'string', default: '0' },
  },
  allowPositionals: true,
})
const patience = Number(values.patience)

interface Ended {
  readonly output: string
  readonly errors: string
  /** The exit code or the signal. */
  readonly end: number | NodeJS.Signals
  /** Seconds of CPU; null where the system does not tell. */
  readonly cpu: number | null
}

const costOfEnded = costs()
const untracked = new URL('./suite/untracked.js', import.meta.url).href

/** The processes of the files that are being played. */
const running = new Set<number>()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    for (const pid of running) endGroup(pid)
    process.exit(1)
  })

const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  new Promise((done, fail) => {
    const env = { ...process.env, ...more, TAP_TIMEOUT: String(patience) }
    const child = spawn(process.execPath, ['--import', untracked, ...args], {
      ...{ env, detached: true },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.on('error', fail)
    const { pid } = child
    if (pid === undefined) return
    running.add(pid)
    const printed = { output: '', errors: '' }
    let cpu: number | null = null
    child.stdout.setEncoding('utf8').on('data', (part: string) => (printed.output += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (printed.errors += part))
    // The file ends itself when its time is over, and tells where it stood; a file that hangs is killed a little later.
    const late = setTimeout(() => endGroup(pid), (patience + 20) * 1000)
    // What a broken test leaves behind would hold its pipes.
    child.on('exit', () => {
      cpu = costOfEnded()
      endGroup(pid)
    })
    child.on('close', (code, signal) => {
      running.delete(pid)
      clearTimeout(late)
      done({ ...printed, end: signal ?? code ?? 1, cpu })
    })
  })

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const sums = { total: 0, pass: 0, skip: 0 }
/** Faults by file. */
const failed = new Map<string, number>()

const inSeconds = (seconds: number, cpu: number | null): string =>
  `${seconds.toFixed(1)} s${cpu === null ? '' : `, ${cpu.toFixed(1)} s of CPU`}`

/** Prints what a file said; whether that is fine. */
const show = (file: string, seconds: number, { output, errors, end, cpu }: Ended): boolean => {
  const told = toldBy(output)
  const isFine = end === 0 && told !== null && told.failed === 0 && told.total + told.skipped.length > 0
  print(`${isFine ? 'ok' : 'not ok'} ${file} # ${told?.total ?? 0} checks in ${inSeconds(seconds, cpu)}`)
  for (const line of told?.skipped ?? []) print(`    skipped: ${line}`)
  sums.total += told?.total ?? 0
  sums.pass += told?.passed ?? 0
  sums.skip += told?.skipped.length ?? 0
  if (isFine) return true
  failed.set(file, Math.max(1, told?.failed ?? 0))
  for (const line of told?.complaints ?? output.split('\n').slice(-60)) print(`    ${withSources(line)}`)
  if (errors !== '') print(withSources(errors.slice(-8_000)))
  print(`    ended with ${end}`)
  return false
}

const together = fileURLToPath(new URL('./suite/together.js', import.meta.url))

/** Each file of a shared process is judged by its part of the output; one without a part did not come to its end. */
const showAll = (files: Turn, ended: Ended): void => {
  const { parts, rest } = partsOf(ended.output)
  let isExplained = ended.end === 0
  for (const file of files) {
    const part = parts.get(file)
    const isFine = part
      ? show(file, part.ms / 1000, { ...ended, output: part.output, end: 0, cpu: part.cpuMs / 1000 })
      : show(file, 0, { ...ended, output: rest })
    if (!isFine) isExplained = true
  }
  if (!isExplained) show(`the end of ${files.join(', ')}`, 0, { ...ended, output: rest })
}

const played = async (files: Turn): Promise<void> => {
  const began = performance.now()
  const [file = ''] = files
  if (files.length > 1) showAll(files, await run([together, file], { [filesVariable]: JSON.stringify(files) }))
  else {
    const ended = await run([file])
    show(file, (performance.now() - began) / 1000, ended)
  }
}

const began = performance.now()
const named = values.together ? [positionals] : positionals.map((file) => [file])
const { turns, resting } =
  positionals.length > 0 ? { turns: named, resting: [] } : await planned(values.long ? 'long' : undefined)
const waiting = [...turns]
const lane = async (): Promise<void> => {
  for (let files = waiting.shift(); files !== undefined; files = waiting.shift()) await played(files)
}
await Promise.all(Array.from({ length: Number(values.jobs) }, lane))

// Bounds of time hold on a machine that does nothing else: a few files may miss them beside others, many files may not.
const missed = [...failed.keys()]
if (missed.length <= Number(values.again))
  for (const file of missed) {
    print(`# again, alone: ${file}`)
    failed.delete(file)
    await played([file])
  }

const faults = [...failed.values()].reduce((sum, count) => sum + count, 0)
print(`# SEALGATE_SEED=${seed} chooses the samples`)
if (resting.length > 0 && !values.long)
  print(`# npm run test:long plays ${resting.length} more files: ${resting.join(', ')}`)
print(`# { total: ${sums.total}, pass: ${sums.pass}, fail: ${faults}, skip: ${sums.skip} }`)
print(`# time=${inSeconds((performance.now() - began) / 1000, cpuOfEnded())}`)
process.exit(faults === 0 && sums.total > 0 ? 0 : 1)
