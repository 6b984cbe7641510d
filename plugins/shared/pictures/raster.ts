import { startLimited, endOf } from '../limited-process.ts'
import { Unconfigured, Unreadable } from '../../../core/errors.ts'
import { jobLanes } from '../job-lanes.ts'

export interface Drawing {
  readonly program: 'ffmpeg' | 'pdftoppm'
  readonly given: readonly string[]
  readonly input: Uint8Array
  /** The system user whose files the decoder reads; a fresh user when absent. */
  readonly user?: number | null
  /** In bytes: a file with more output is unreadable. */
  readonly most: number
}

/** In seconds of work and in ms of real time, for one decoder. */
const work = 20
const patienceMs = 30_000

/**
 * Runs a decoder from pipe to pipe, so that the disk never holds the file. Other output of the decoder is dropped.
 * Throws Unreadable, or Unconfigured when the program is missing.
 */
export const runDecoder = (drawing: Drawing, signal: AbortSignal): Promise<Uint8Array> =>
  jobLanes.run(() => run(drawing, signal), signal)

const run = async ({ program, input, most, ...whose }: Drawing, signal: AbortSignal): Promise<Uint8Array> => {
  const process = { program, work, patience: patienceMs, ...whose }
  const child = await startLimited(process, ['pipe', 'pipe', 'ignore'], signal)
  const pieces: Buffer[] = []
  let length = 0
  child.stdout?.on('data', (piece: Buffer) => {
    length += piece.length
    if (length <= most) pieces.push(piece)
    else child.kill('SIGKILL')
  })
  // A decoder that needs no more input closes its end.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const end = await endOf(child, signal)
  if (end === 'missing') throw new Unconfigured({ validator: { [program]: 'Expected to be installed' } })
  if (end === 'failed' || length === 0 || length > most) throw new Unreadable()
  return Buffer.concat(pieces)
}
