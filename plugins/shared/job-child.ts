import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Readable, Writable } from 'node:stream'
import { type ProcessFences, fencesFor, freshUser } from './fences.ts'
import { packagedCode } from './packaged-code.ts'

/** A process that waits for one job. */
export interface Child {
  readonly process: ChildProcess
  readonly jobs: Writable
  readonly results: Readable
}

/** In megabytes of heap, kilobytes of writable memory, seconds of work, and open files. */
const limits = { heap: 512, memory: 1536 * 1024, work: 600, files: 128 }

/** The folders of the code and its packages: the process can read nothing else. */
const readable = (): readonly string[] => {
  const { folder } = packagedCode()
  const packages = (createRequire(folder).resolve.paths('yaml') ?? []).filter((path) => existsSync(path))
  return [...new Set([folder, ...packages, ...packages.map((path) => realpathSync(path))])]
}

/** Node's own permission model, where available. */
const permission = ['--permission', '--experimental-permission'].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
)

const options = (): readonly string[] => [
  `--max-old-space-size=${limits.heap}`,
  // An engine reads in its own thread, which has the same permissions.
  ...(permission === undefined ? [] : [permission, '--allow-worker']),
  ...(permission === undefined ? [] : readable().map((path) => `--allow-fs-read=${path}`)),
]

/** The fences between a parser and the rest of the machine. */
export const fences = (): ProcessFences & { readonly fileless: boolean } => ({
  ...fencesFor(process.execPath, ...readable()),
  fileless: permission !== undefined,
})

/** Starts a process without environment, inside of fences and limits. Windows has neither of them. */
export const startChild = (): Child => {
  const { folder, ending } = packagedCode()
  const program = [process.execPath, ...options(), `${folder}plugins/shared/job-process${ending}`]
  const bounds = `ulimit -c 0; ulimit -f 0; ulimit -d ${limits.memory}; ulimit -t ${limits.work}; ulimit -n ${limits.files}`
  const fenced = [...fences().words(freshUser(fences())), ...program]
  const words = process.platform === 'win32' ? program : ['/bin/sh', '-c', `${bounds}; exec "$@"`, 'sh', ...fenced]
  const child = spawn(words[0]!, words.slice(1), {
    // A parser's output may quote the file, so it is dropped.
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    env: {},
    cwd: '/',
  })
  child.on('error', () => {})
  child.stdin?.on('error', () => {})
  return { process: child, jobs: child.stdin!, results: child.stdio[3] as Readable }
}
