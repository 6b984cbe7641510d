import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { endGroup } from './end-group.ts'
import { toldBy } from './tap-lines.ts'

/** `npm test`: each file of tests in a process of its own. Shows what fails and what is skipped, and the sums at the end. */
const { values, positionals } = parseArgs({
  options: {
    jobs: { type: 'string', default: '3' },
    /** Seconds in which a file ends. */
    patience: { type: 'string', default: '180' },
  },
  allowPositionals: true,
})
const patience = Number(values.patience)

/** The files that take longest begin first, so that none of them runs alone at the end. */
const longest: readonly string[] = [
  'outages',
  'replicas',
  'serve',
  'interface',
  'commands',
  'tools',
  'plugins/storage/s3',
  'rolling',
  'operators',
  'plugins/tools/audioDiarization',
  'mcp',
  'console-browser',
  'soak',
  'sealed',
]

const found = async (): Promise<readonly string[]> => {
  const files = (await readdir('dist/test', { recursive: true })).filter((file) => file.endsWith('.test.js')).sort()
  const early = longest.map((name) => `${name}.test.js`)
  const missing = early.filter((file) => !files.includes(file))
  if (missing.length > 0) throw new Error(`No such tests: ${missing.join(', ')}`)
  return [...early, ...files.filter((file) => !early.includes(file))].map((file) => join('dist/test', file))
}

interface Ended {
  readonly output: string
  readonly errors: string
  /** The exit code or the signal. */
  readonly end: number | NodeJS.Signals
}

/** The processes of the files that are being played. */
const running = new Set<number>()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    for (const pid of running) endGroup(pid)
    process.exit(1)
  })

const run = (file: string): Promise<Ended> =>
  new Promise((done, fail) => {
    const env = { ...process.env, TAP_TIMEOUT: String(patience) }
    const child = spawn(process.execPath, ['--enable-source-maps', file], {
      ...{ env, detached: true },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.on('error', fail)
    const { pid } = child
    if (pid === undefined) return
    running.add(pid)
    const said = { output: '', errors: '' }
    child.stdout.setEncoding('utf8').on('data', (part: string) => (said.output += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (said.errors += part))
    // The file ends itself when its time is over, and tells where it stood; a file that hangs is killed a little later.
    const late = setTimeout(() => endGroup(pid), (patience + 20) * 1000)
    // What a broken test leaves behind would hold its pipes.
    child.on('exit', () => endGroup(pid))
    child.on('close', (code, signal) => {
      running.delete(pid)
      clearTimeout(late)
      done({ ...said, end: signal ?? code ?? 1 })
    })
  })

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const sums = { total: 0, pass: 0, fail: 0, skip: 0 }

const played = async (file: string): Promise<void> => {
  const began = performance.now()
  const { output, errors, end } = await run(file)
  const told = toldBy(output)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const isFine = end === 0 && told !== null && told.failed === 0
  print(`${isFine ? 'ok' : 'not ok'} ${file} # ${told?.total ?? 0} checks in ${seconds} s`)
  for (const line of told?.skipped ?? []) print(`    skipped: ${line}`)
  sums.total += told?.total ?? 0
  sums.pass += told?.passed ?? 0
  sums.skip += told?.skipped.length ?? 0
  sums.fail += isFine ? 0 : Math.max(1, told?.failed ?? 0)
  if (isFine) return
  for (const line of told?.complaints ?? output.split('\n').slice(-60)) print(`    ${line}`)
  if (errors !== '') print(`${errors.slice(-8_000)}`)
  print(`    ended with ${end}`)
}

const began = performance.now()
const waiting = [...(positionals.length > 0 ? positionals : await found())]
const lane = async (): Promise<void> => {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await played(file)
}
await Promise.all(Array.from({ length: Number(values.jobs) }, lane))

print(`# { total: ${sums.total}, pass: ${sums.pass}, fail: ${sums.fail}, skip: ${sums.skip} }`)
print(`# time=${((performance.now() - began) / 1000).toFixed(0)} s`)
process.exit(sums.fail === 0 && sums.total > 0 ? 0 : 1)
