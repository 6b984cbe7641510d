import type { Backing, Breaker } from './answers.ts'
import { seconds, span } from './format.ts'

const kinds: Readonly<Record<Breaker, 'good' | 'mixed' | 'bad'>> = { closed: 'good', half_open: 'mixed', open: 'bad' }

const faults: Readonly<Record<string, string>> = {
  unreached: 'not reached',
  key_refused: 'key refused',
  rate_limited: 'too many requests',
  request_refused: 'request refused',
  server_error: 'server error',
  stream_broken: 'stream broke',
}

export const faultWords = (kind: string): string => faults[kind] ?? kind

/** A breaker as a lamp; `passed` is ms since it was read. */
export const lampOf = ({ state, rest_ms }: Pick<Backing, 'state' | 'rest_ms'>, passed: number) => {
  const left = Math.max(0, rest_ms - passed)
  const words = left > 90_000 ? span(left) : seconds(Math.ceil(left / 1000))
  if (state === 'open' && left > 0) return { kind: kinds.open, words: `open for ${words}` }
  if (state === 'closed') return { kind: kinds.closed, words: 'closed: calls pass' }
  return { kind: kinds.half_open, words: 'tries one call' }
}

/** Faults of the last calls in words, as `3 of 20: 2 server error, 1 not reached`. */
export const faultsOf = ({ calls, faults }: Pick<Backing, 'calls' | 'faults'>): string => {
  if (calls.length === 0) return 'no calls yet'
  const sum = faults.reduce((sum, { count }) => sum + count, 0)
  const kinds = faults.map(({ kind, count }) => `${count} ${faultWords(kind)}`).join(', ')
  return sum === 0 ? `0 of ${calls.length}` : `${sum} of ${calls.length}: ${kinds}`
}

export const ageOf = ({ listed_at: at }: Pick<Backing, 'listed_at'>, now: number): string =>
  at === null ? 'not read' : now - at < 60_000 ? `${Math.max(0, Math.round((now - at) / 1000))} s` : span(now - at)

/** The kind of one call's fault; null without one. */
export const faultOfCall = ({ outcome, status }: Backing['calls'][number]): string | null => {
  if (outcome === 'broke') return 'stream_broken'
  if (outcome !== 'failed') return null
  if (status === null) return 'unreached'
  if (status === 401 || status === 403) return 'key_refused'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'server_error' : 'request_refused'
}
