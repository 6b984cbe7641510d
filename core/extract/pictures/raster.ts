import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { Unconfigured, Unreadable } from '../../errors.ts'

export interface Drawing {
  readonly program: 'ffmpeg' | 'pdftoppm'
  readonly given: readonly string[]
  readonly input: Uint8Array
  /** Bytes of output; with more the file is unreadable. */
  readonly most: number
}

/** Kilobytes of address space, seconds of work, and ms by the wall, for one decoder. */
const memory = 2 * 1024 * 1024
const work = 20
const patience = 30_000

// As many decoders at once as there are cores, whoever asks.
const turn = pLimit(availableParallelism())

/**
 * What a decoder makes of a file, from pipe to pipe, so that none of it stands on a disk. It gets none of our environment but
 * the search path, writes no file and leaves no core, and nothing that it says is read. Throws Unreadable, or Unconfigured
 * when the program is not there.
 */
export const draw = (drawing: Drawing, signal: AbortSignal): Promise<Uint8Array> =>
  turn(() => {
    signal.throwIfAborted()
    return run(drawing, signal)
  })

const run = ({ program, given, input, most }: Drawing, signal: AbortSignal): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const limits = `ulimit -c 0; ulimit -f 0; ulimit -v ${memory}; ulimit -t ${work}; exec "$@"`
    const child = spawn('/bin/sh', ['-c', limits, 'sh', program, ...given], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'] },
      signal,
      timeout: patience,
      killSignal: 'SIGKILL',
    })
    const pieces: Buffer[] = []
    let length = 0
    child.stdout.on('data', (piece: Buffer) => {
      length += piece.length
      if (length <= most) pieces.push(piece)
      else child.kill('SIGKILL')
    })
    // A decoder that has seen enough closes its end.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const missing = () => new Unconfigured({ validator: { [program]: 'Expected to be installed' } })
    child.once('error', () => reject(signal.aborted ? signal.reason : missing()))
    child.once('close', (code) => {
      if (signal.aborted) reject(signal.reason)
      else if (code === 127) reject(missing())
      else if (code !== 0 || length === 0 || length > most) reject(new Unreadable())
      else resolve(Buffer.concat(pieces))
    })
  })
