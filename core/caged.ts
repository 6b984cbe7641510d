import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'

export interface Caged {
  readonly program: string
  readonly given: readonly string[]
  /** Seconds of work, and ms by the wall. */
  readonly work: number
  readonly patience: number
  /** It may write files; what is written else goes through pipes. */
  readonly writes?: boolean
}

/** Kilobytes of address space. */
const memory = 2 * 1024 * 1024

/** A program with limits on all that it may use, that leaves no core and gets none of our environment but the search path. */
export const caged = (
  { program, given, work, patience, writes = false }: Caged,
  stdio: StdioOptions,
  signal: AbortSignal,
): ChildProcess => {
  const files = writes ? '' : 'ulimit -f 0; '
  const limits = `ulimit -c 0; ${files}ulimit -v ${memory}; ulimit -t ${work}; exec "$@"`
  return spawn('/bin/sh', ['-c', limits, 'sh', program, ...given], {
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
