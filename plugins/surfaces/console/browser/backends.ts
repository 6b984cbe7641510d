import { type Sample, quantileOf, sumOf } from './prometheus.ts'

export interface Backend {
  readonly name: string
  readonly answered: number
  readonly failed: number
  /** Streams that broke. */
  readonly interrupted: number
  /** Calls whose caller had gone, or that another backend answered first. */
  readonly abandoned: number
  /** Seconds; null without an answered call. */
  readonly p50: number | null
  readonly p95: number | null
}

const histogram = 'sealgate_backend_seconds'

/** Outcomes by their names of 1.0.0 and by the later ones. */
const outcomes: Readonly<Record<string, 'answered' | 'failed' | 'interrupted' | 'abandoned'>> = {
  answered: 'answered',
  failed: 'failed',
  broke: 'interrupted',
  interrupted: 'interrupted',
  left: 'abandoned',
  abandoned: 'abandoned',
}

/** The backends that were asked since the gateway started, by name. */
export const backendsOf = (samples: readonly Sample[]): readonly Backend[] => {
  const names = new Set(
    samples.flatMap(({ name, labels }) => (name === `${histogram}_count` ? [labels['provider'] ?? ''] : [])),
  )
  return [...names].sort().map((name) => {
    const of = (labels: Sample['labels']) => labels['provider'] === name
    const answered = (labels: Sample['labels']) => of(labels) && labels['outcome'] === 'answered'
    const counts = { answered: 0, failed: 0, interrupted: 0, abandoned: 0 }
    for (const [outcome, column] of Object.entries(outcomes))
      counts[column] += sumOf(samples, `${histogram}_count`, (it) => of(it) && it['outcome'] === outcome)
    const quantile = (part: number) => quantileOf(samples, histogram, answered, part)
    return { name, ...counts, p50: quantile(0.5), p95: quantile(0.95) }
  })
}

export type State = 'idle' | 'good' | 'mixed' | 'bad'

/** The backend's counts since an earlier reading or the start. A backend that never answered stays bad without calls. */
export const stateOf = (now: Backend, before: Backend | null): State => {
  const answered = now.answered - (before?.answered ?? 0)
  const failed = now.failed + now.interrupted - (before?.failed ?? 0) - (before?.interrupted ?? 0)
  const never = now.answered === 0 && now.failed + now.interrupted > 0
  if (answered + failed === 0) return never ? 'bad' : 'idle'
  return failed === 0 ? 'good' : answered === 0 ? 'bad' : 'mixed'
}
