import { withDeadline } from '../../../shared/stop-with.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import type { Clock } from '../../../../core/ports/platform.ts'

const silent = () => new UpstreamFailed('The tool’s server gives no answer in time', { again: true })

/** Work that ends after so many ms, or with the outer signal. */
export const inTime = async <T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { signal, off } = withDeadline(clock, ms, outer, silent)
  try {
    return await work(signal)
  } finally {
    off()
  }
}
