import { availableParallelism } from 'node:os'
import { errand } from '../../core/errand.ts'
import { fairShares, usualQueue } from '../../core/fair-shares.ts'

/** Both throw TooMany where too many wait, and the signal's reason where the caller left. */
export interface Lanes {
  /** Resolves when the caller's turn has come, with what ends it. */
  enter(signal: AbortSignal): Promise<() => void>
  /** Does the work when its turn has come. */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>
}

const nobody = { organization: '', key: '', queue: usualQueue }

/** One organisation fills all lanes but the last, so that another one finds a lane free; `most` of its jobs may wait. */
export const lanes = (width: number, most = Infinity): Lanes => {
  const shares = fairShares({ all: width + 1, organization: width, key: width })
  const enter = (signal: AbortSignal) => {
    const { queue, ...holder } = errand() ?? nobody
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

/** Jobs of parsers, of engines, and of decoders that draw a picture. */
export const jobLanes = lanes(cores)

/** Decoders of sound, which mostly wait for a job or a model that listens: they may not keep the lanes of those. */
export const soundLanes = lanes(4 * cores)

/** Browsers: a page takes many seconds. */
export const browserLanes = lanes(1, 8)
