import { caged, endOf, helper } from '../../../core/limited-process.ts'
import { Unconfigured, Unreadable } from '../../../core/errors.ts'
import { jobLanes } from '../lanes.ts'

export interface Drawing {
  readonly program: 'ffmpeg' | 'pdftoppm'
  readonly given: readonly string[]
  readonly input: Uint8Array
  /** Whose files it reads; a fresh user when absent. */
  readonly user?: number | null
  /** Bytes of output; with more the file is unreadable. */
  readonly most: number
}

/** Seconds of work, and ms by the wall, for one decoder. */
const work = 20
const patience = 30_000

/**
 * What a decoder makes of a file, from pipe to pipe, so that none of it stands on a disk; nothing that it says beside is read.
 * Throws Unreadable, or Unconfigured when the program is not there.
 */
export const draw = (drawing: Drawing, signal: AbortSignal): Promise<Uint8Array> =>
  jobLanes.run(() => run(drawing, signal), signal)

const run = async (
  { program, given, input, most, user = helper() }: Drawing,
  signal: AbortSignal,
): Promise<Uint8Array> => {
  const child = caged({ program, given, work, patience, user }, ['pipe', 'pipe', 'ignore'], signal)
  const pieces: Buffer[] = []
  let length = 0
  child.stdout?.on('data', (piece: Buffer) => {
    length += piece.length
    if (length <= most) pieces.push(piece)
    else child.kill('SIGKILL')
  })
  // A decoder that has seen enough closes its end.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const end = await endOf(child, signal)
  if (end === 'missing') throw new Unconfigured({ validator: { [program]: 'Expected to be installed' } })
  if (end === 'failed' || length === 0 || length > most) throw new Unreadable()
  return Buffer.concat(pieces)
}
