import { type LimitedProcess, startLimited, endOf } from '../../shared/limited-process.ts'
import { Unconfigured, Unreadable } from '../../../core/errors.ts'

/** In seconds of work, for one process. */
const work = 300

/**
 * The output of ffmpeg or ffprobe as it arrives. A slow reader slows the process, and a reader that leaves ends it.
 * Other output is dropped. Throws Unreadable when the process fails or exceeds `patience` in ms, and Unconfigured when
 * it is not installed.
 */
export async function* outputOf(
  { program, ...rest }: Omit<LimitedProcess, 'program' | 'work'> & { readonly program: 'ffmpeg' | 'ffprobe' },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  signal.throwIfAborted()
  const child = startLimited({ program, ...rest, work }, ['ignore', 'pipe', 'ignore'], signal)
  const ended = endOf(child, signal)
  ended.catch(() => {})
  try {
    for await (const bytes of child.stdout ?? []) yield bytes as Uint8Array
    const end = await ended
    if (end === 'missing') throw new Unconfigured({ validator: { [program]: 'Expected to be installed' } })
    if (end === 'failed') throw new Unreadable()
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    child.kill('SIGKILL')
  }
}
