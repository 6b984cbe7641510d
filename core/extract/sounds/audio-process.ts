import { spawn } from 'node:child_process'
import { Unconfigured, Unreadable } from '../../errors.ts'

/** Kilobytes of address space and seconds of work for one of them. */
const memory = 2 * 1024 * 1024
const work = 300

/**
 * What ffmpeg or ffprobe writes, as it comes: who reads slowly slows it down, and who leaves ends it. Nothing of what it
 * says beside is read, and none of our environment but the search path is given to it. Throws Unreadable when it fails or
 * takes longer than `patience` in ms, Unconfigured where it is not installed.
 */
export async function* outputOf(
  program: 'ffmpeg' | 'ffprobe',
  given: readonly string[],
  patience: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  signal.throwIfAborted()
  const limits = `ulimit -c 0; ulimit -f 0; ulimit -v ${memory}; ulimit -t ${work}; exec "$@"`
  const child = spawn('/bin/sh', ['-c', limits, 'sh', program, ...given], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'] },
    signal,
    timeout: patience,
    killSignal: 'SIGKILL',
  })
  const missing = () => new Unconfigured({ validator: { [program]: 'Expected to be installed' } })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', () => reject(missing()))
    child.once('close', resolve)
  })
  ended.catch(() => {})
  try {
    for await (const bytes of child.stdout) yield bytes as Uint8Array
    const code = await ended
    signal.throwIfAborted()
    if (code === 127) throw missing()
    if (code !== 0) throw new Unreadable()
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    child.kill('SIGKILL')
  }
}
