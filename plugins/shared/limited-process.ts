import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { chown } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { fencesFor, freshUser } from './fences.ts'

/** A program that reads what callers sent, so a fault in it must harm nothing else. */
export interface LimitedProcess {
  /** A path, or a name that the shell looks for in the `PATH` of this process. */
  readonly program: string
  readonly given: readonly string[]
  /** Seconds of work, and ms by the wall. */
  readonly work: number
  readonly patience: number
  /** The process may write files; all other output goes through pipes. */
  readonly writes?: boolean
  /** Whose files it reads; a fresh user when absent. */
  readonly user?: number | null
}

/** The user of a program that will be given files; null where it can have no other than ours. */
export const helperUser = async (): Promise<number | null> => freshUser(await fencesFor(tmpdir()))

/** Gives files to a helper, who could not read them else. */
export const giveFilesTo = async (user: number | null, ...paths: readonly string[]): Promise<void> => {
  if (user !== null) for (const path of paths) await chown(path, user, user)
}

/** Kilobytes of address space for each process, and how many processes and threads its user may have. */
const memory = 2 * 1024 * 1024
const mostProcesses = 64

/** Shells call this limit by two names. A user who has other processes gets no such limit. */
const fewProcesses = `ulimit -p ${mostProcesses} 2>/dev/null || ulimit -u ${mostProcesses}; `

/**
 * Gives a core to the processes that serve calls first. The shell itself sees to it: the program may start further ones before
 * its parent could lower its priority.
 */
const behindCalls = `command -v nice >/dev/null && set -- nice -n ${constants.priority.PRIORITY_BELOW_NORMAL} "$@"; `

/** Starts a program with limits on all that it may use, without a network and as another user where the system allows that. */
export const startLimited = async (
  { program, given, work, patience, writes = false, user: owner }: LimitedProcess,
  stdio: StdioOptions,
  signal: AbortSignal,
): Promise<ChildProcess> => {
  const user = owner === undefined ? await helperUser() : owner
  const files = writes ? '' : 'ulimit -f 0; '
  const processes = user === null ? '' : fewProcesses
  const limits = `ulimit -c 0; ${files}${processes}ulimit -v ${memory}; ulimit -t ${work}; ${behindCalls}exec "$@"`
  const words = (await fencesFor(tmpdir())).words(user)
  return spawn('/bin/sh', ['-c', limits, 'sh', ...words, program, ...given], {
    stdio,
    env: { PATH: process.env['PATH'] },
    signal,
    timeout: patience,
    killSignal: 'SIGKILL',
  })
}

/** How it ended, once all that it wrote is there. Rejects with the signal's reason when that fired. */
export const endOf = (child: ChildProcess, signal: AbortSignal): Promise<'fine' | 'failed' | 'missing'> =>
  new Promise((resolve, reject) => {
    const settle = (end: 'fine' | 'failed' | 'missing') => (signal.aborted ? reject(signal.reason) : resolve(end))
    child.on('error', () => settle('missing'))
    child.once('close', (code) => settle(code === 0 ? 'fine' : code === 127 ? 'missing' : 'failed'))
  })
