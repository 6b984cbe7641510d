import { availableParallelism } from 'node:os'
import { currentErrand } from './errand.ts'
import { fairShares, defaultQueue } from './fair-shares.ts'

/** Both methods throw TooMany when too many jobs wait, and the signal's reason when the caller left. */
export interface Lanes {
  /** Resolves at the caller's turn. The result ends the turn. */
  enter(signal: AbortSignal): Promise<() => void>
  /** Runs the work at its turn. */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>
}

const nobody = { organization: '', key: '', queue: defaultQueue }

/**
 * One organisation fills all lanes but the last, so that another organisation finds a free lane. At most `most` of its
 * jobs wait.
 */
export const lanes = (width: number, most = Infinity): Lanes => {
  const shares = fairShares({ all: width + 1, organization: width, key: width })
  const enter = (signal: AbortSignal) => {
    const { queue, ...holder } = currentErrand() ?? nobody
    const shorter = { all: Math.min(queue.all, 2 * most), organization: Math.min(queue.organization, most) }
    return shares.take(holder, 1, shorter, signal)
  }
  return {
    enter,
    async run(work, signal) {
      const leave = await enter(signal)
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}

const cores = availableParallelism()

/** Lanes for parsers, engines, and decoders of pictures. */
export const jobLanes = lanes(cores)

/** Lanes for sound decoders. They mostly wait for a job or a listening model, so they must not occupy the job lanes. */
export const soundLanes = lanes(4 * cores)

/** Lanes for browsers: a page takes many seconds. */
export const browserLanes = lanes(1, 8)
