import { type Sample, sumOf } from './prometheus.ts'

/** The measurements of one moment. */
export interface Reading {
  /** Unix time in ms. */
  readonly at: number
  readonly samples: readonly Sample[]
}

export interface Traffic {
  readonly perSecond: number
  /** Shares from 0 to 1; null without any request. */
  readonly failed: number | null
  readonly sealed: number | null
}

/** Probes, this console and the pages about the interface are no traffic. */
const isOwn = ({ route = '' }: Sample['labels']): boolean =>
  /^GET \/(?:health|metrics|console|docs|openapi\.json)|^GET \/$| \/admin\//.test(route)

const isFailure = ({ status = '' }: Sample['labels']): boolean => status.startsWith('5')

const isSealed = ({ route = '' }: Sample['labels']): boolean => / \/rvenc\//.test(route)

/** What passed between two readings; a gateway that started in between begins at nothing. */
export const trafficOf = (now: Reading, before: Reading): Traffic => {
  const grown = (fits: (labels: Sample['labels']) => boolean): number => {
    const count = ({ samples }: Reading) => sumOf(samples, 'sealgate_request_seconds_count', fits)
    const [late, early] = [count(now), count(before)]
    return late < early ? late : late - early
  }
  const all = grown((it) => !isOwn(it))
  const share = (fits: (labels: Sample['labels']) => boolean) =>
    all === 0 ? null : grown((it) => !isOwn(it) && fits(it)) / all
  const seconds = Math.max(1, now.at - before.at) / 1000
  return { perSecond: all / seconds, failed: share(isFailure), sealed: share(isSealed) }
}
