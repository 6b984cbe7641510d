import type { Catch } from './judge.ts'

export interface Line {
  readonly target: string
  readonly bodies: number
  /** Those that the route itself answered. */
  readonly judged: number
  /** Those that an allowance turned away: 429 and 503. */
  readonly turnedAway: number
  /** Those without an answer. */
  readonly cut: number
  /** How often each status came. */
  readonly statuses: Readonly<Record<string, number>>
  readonly worst: Readonly<Record<string, { readonly figure: number; readonly body: string }>>
}

const mebibyte = 1024 * 1024

const nameOf = ({ spoiled, size }: Catch): string => `${spoiled.name}, ${size} bytes`

const worstOf = (caught: readonly Catch[], figure: (observed: Catch) => number) => {
  const worst = caught.reduce((one, other) => (figure(other) > figure(one) ? other : one))
  return { figure: Math.round(figure(worst)), body: nameOf(worst) }
}

const lineOf = (target: string, caught: readonly Catch[]): Line => {
  const statuses: Record<string, number> = {}
  for (const { status } of caught) statuses[status] = (statuses[status] ?? 0) + 1
  const count = (...of: readonly string[]) => of.reduce((sum, text) => sum + (statuses[text] ?? 0), 0)
  const [turnedAway, cut] = [count('429', '503'), count('cut', 'severed', 'silent')]
  const seen = (name: 'gateway' | 'enclave', field: 'stall' | 'peak') => (observed: Catch) =>
    observed.watched[name][field]
  return {
    target,
    bodies: caught.length,
    judged: caught.length - turnedAway - cut,
    turnedAway,
    cut,
    statuses,
    worst: {
      'gateway stall': worstOf(caught, seen('gateway', 'stall')),
      'enclave stall': worstOf(caught, seen('enclave', 'stall')),
      'gateway MiB': worstOf(caught, (observed) => observed.watched.gateway.peak / mebibyte),
      'enclave MiB': worstOf(caught, (observed) => observed.watched.enclave.peak / mebibyte),
    },
  }
}

/** What came of each target. */
export const linesOf = (caught: readonly Catch[]): readonly Line[] =>
  [...new Set(caught.map(({ target }) => target))].map((observed) =>
    lineOf(
      observed.name,
      caught.filter(({ target }) => target === observed),
    ),
  )

const columns = ['gateway stall', 'enclave stall', 'gateway MiB', 'enclave MiB'] as const

export const printed = (lines: readonly Line[]): readonly string[] => {
  const head = ['target', 'bodies', 'judged', ...columns, 'statuses']
  const rows = lines.map(({ target, bodies, judged, worst, statuses }) => [
    target,
    String(bodies),
    String(judged),
    ...columns.map((name) => String(worst[name]!.figure)),
    Object.entries(statuses)
      .map(([status, count]) => `${status}×${count}`)
      .join(' '),
  ])
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]!.length)))
  return [head, ...rows].map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  )
}
