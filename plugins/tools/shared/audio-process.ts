import { type Caged, caged, endOf } from '../../../core/limited-process.ts'
import { Unconfigured, Unreadable } from '../../../core/errors.ts'

/** Seconds of work for one of them. */
const work = 300

/**
 * What ffmpeg or ffprobe writes, as it comes: who reads slowly slows it down, and who leaves ends it. Nothing of what it
 * says beside is read. Throws Unreadable when it fails or takes longer than `patience` in ms, Unconfigured where it is not
 * installed.
 */
export async function* outputOf(
  { program, ...rest }: Omit<Caged, 'program' | 'work'> & { readonly program: 'ffmpeg' | 'ffprobe' },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  signal.throwIfAborted()
  const child = caged({ program, ...rest, work }, ['ignore', 'pipe', 'ignore'], signal)
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
