import type { Socket } from 'node:net'
import { Unavailable, Unreadable } from '../../core/errors.ts'
import { uninstalled } from './optional-package.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Readable, Writable } from 'node:stream'
import { type ProcessFences, fencesFor, freshUser } from './fences.ts'
import { packagedCode } from './packaged-code.ts'
import { lengthsOf, packFrame, unpackFrame } from './frames.ts'
import type { Job, JobOutcome } from './job-outcome.ts'
import { jobLanes } from './job-lanes.ts'

export interface JobBounds {
  /** In ms of real time; absent means a limit by the size of the input. */
  readonly time?: number
}

/** In ms: for a job, for each megabyte of input, and at most. */
const time = { base: 10_000, perMegabyte: 2_000, most: 60_000 }

/** In bytes: the limits of a job's values, and of its sounds or pictures. */
const mostAnswer = { values: 16 * 1024 * 1024, memory: 96 * 1024 * 1024 }

/**
 * Runs a job in its own process; `job` is the path of a file below `plugins`. Any effect of a file on its parser ends
 * with that process, which never reads another file. Throws Unreadable when the file causes a failure, Unconfigured
 * when the engine is missing, and Unavailable when no process starts.
 */
export const runApart = <O>(job: string, input: unknown, signal: AbortSignal, bounds: JobBounds = {}): Promise<O> => {
  const given: Job = { job, input }
  return jobLanes.run(() => {
    const pieces = packFrame(given)
    const late = AbortSignal.timeout(bounds.time ?? timeOf(pieces))
    return work<O>(pieces, AbortSignal.any([signal, late]), late)
  }, signal)
}

const timeOf = (pieces: readonly Uint8Array[]): number => {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
  return Math.min(time.most, time.base + Math.ceil((time.perMegabyte * bytes) / 2 ** 20))
}

/** A process that starts before its job comes, so that a short job need not wait for a start. Null where none started. */
let spare: Promise<Child | null> = Promise.resolve(null)

/** Whether the child keeps the gateway's process alive. */
const held = ({ process, jobs, results }: Child, hold: boolean): void => {
  for (const handle of [process, jobs as Socket, results as Socket]) hold ? handle.ref() : handle.unref()
}

const isAlive = ({ process }: Child): boolean => process.exitCode === null && process.signalCode === null

const takeChild = async (): Promise<Child> => {
  const waiting = spare
  spare = startChild().catch(() => null)
  const started = await waiting
  const child = started !== null && isAlive(started) ? started : await startChild()
  held(child, true)
  return child
}

/** A job out of time rejects with Unreadable, and an abort with the signal's reason. The process dies in any case. */
const work = async <O>(pieces: readonly Uint8Array[], stop: AbortSignal, late: AbortSignal): Promise<O> => {
  stop.throwIfAborted()
  const child = await takeChild()
  const leave = () => child.process.kill('SIGKILL')
  stop.addEventListener('abort', leave, { once: true })
  try {
    stop.throwIfAborted()
    for (const piece of pieces) child.jobs.write(piece)
    const told = await answerOf(child)
    if (told.kind === 'done') return told.output as O
    if (told.kind === 'unreadable') throw new Unreadable({ flaw: told.flaw })
    throw uninstalled(told.engine)
  } catch (error) {
    if (stop.aborted) throw late.aborted ? new Unreadable() : stop.reason
    throw error
  } finally {
    stop.removeEventListener('abort', leave)
    leave()
  }
}

/** Reads an answer up to its limit. Throws Unreadable when the process ended without an answer. */
const answerOf = async ({ results }: Child): Promise<JobOutcome> => {
  let head = Buffer.alloc(0)
  let room = null as ReturnType<typeof roomFor> | null
  let isFull = false
  try {
    for await (const part of results as AsyncIterable<Buffer>) {
      let rest = part
      if (room === null) {
        head = Buffer.concat([head, part])
        const lengths = lengthsOf(head.subarray(1), mostAnswer)
        if (lengths === null) continue
        room = roomFor(lengths)
        rest = head.subarray(1 + 4 + 4 * lengths.length)
      }
      isFull = room.take(rest)
      if (isFull) break
    }
    if (head.length === 0) throw new Unavailable()
    if (room === null || !isFull) throw new Unreadable()
    return unpackFrame(room.pieces) as JobOutcome
  } catch (cause) {
    throw cause instanceof Unavailable ? cause : new Unreadable({ cause })
  }
}

/** The pieces of an answer as their bytes come. Each has its own memory, since typed arrays need an aligned start. */
const roomFor = (lengths: readonly number[]) => {
  const pieces = lengths.map((length) => new Uint8Array(length))
  let [next, at] = [0, 0]
  return {
    pieces,
    /** Takes the bytes that come next; true where the last piece is full. */
    take(part: Uint8Array): boolean {
      for (; next < pieces.length; next++, at = 0) {
        const piece = pieces[next]!
        const count = Math.min(part.length, piece.length - at)
        piece.set(part.subarray(0, count), at)
        at += count
        part = part.subarray(count)
        if (at < piece.length) return false
      }
      return true
    },
  }
}

/** A process that waits for one job. */
interface Child {
  readonly process: ChildProcess
  readonly jobs: Writable
  readonly results: Readable
}

/** Megabytes that the newer V8 of Node 24 and 26 reserves for the code of an engine's threads, before it uses any. */
const codeRange = Number.parseInt(process.versions.v8) > 12 ? 1024 : 0

/** In megabytes of heap, kilobytes of writable memory, seconds of work, and open files. */
const limits = { heap: 512, memory: (1536 + codeRange) * 1024, work: 600, files: 128 }

/** The folders of the code and its packages: the process can read nothing else. */
const readable = (): readonly string[] => (readableFolders ??= codeFolders())
let readableFolders: readonly string[] | null = null

const codeFolders = (): readonly string[] => {
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
export const fences = async (): Promise<ProcessFences & { readonly fileless: boolean }> => ({
  ...(await fencesFor(process.execPath, ...readable())),
  fileless: permission !== undefined,
})

/** Starts a process without environment, inside of fences and limits. Windows has neither of them. */
const startChild = async (): Promise<Child> => {
  const { folder, ending } = packagedCode()
  const program = [process.execPath, ...options(), `${folder}plugins/shared/job-process${ending}`]
  const bounds = `ulimit -c 0; ulimit -f 0; ulimit -d ${limits.memory}; ulimit -t ${limits.work}; ulimit -n ${limits.files}`
  const walls = await fences()
  const fenced = [...walls.words(freshUser(walls)), ...program]
  const words = process.platform === 'win32' ? program : ['/bin/sh', '-c', `${bounds}; exec "$@"`, 'sh', ...fenced]
  const child = spawn(words[0]!, words.slice(1), {
    // A parser's output may quote the file, so it is dropped.
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    env: {},
    cwd: '/',
  })
  child.on('error', () => {})
  child.stdin?.on('error', () => {})
  const started = { process: child, jobs: child.stdin!, results: child.stdio[3] as Readable }
  held(started, false)
  return started
}
