import type { Memory } from './child.ts'
import type { Tally } from './crew.ts'

export interface Sample {
  /** Ms since the beginning. */
  readonly at: number
  readonly gateway: Memory
  readonly enclave: Memory
}

interface Sockets {
  readonly gateway: number
  readonly enclave: number
}

export interface Findings {
  readonly tallies: readonly Tally[]
  readonly samples: readonly Sample[]
  /** Ms. */
  readonly length: number
  /** Of the calls that are meant to be left. */
  readonly share: number
  readonly sockets: {
    readonly before: Sockets
    readonly loaded: Sockets
    readonly after: Sockets
    /** Whether there was time to wait for those that are kept a while. */
    readonly judged: boolean
  }
  readonly rotations: number
  /** Of the second enclave. */
  readonly restarts: number
  /** Requests that met a key that was over. */
  readonly late: number
  /** What was left when all had ended, each by its name. */
  readonly rest: Readonly<Record<string, number>>
}

const mebibyte = 1024 * 1024
const processes = ['gateway', 'enclave'] as const
/** Samples of less than these ms say nothing of megabytes a minute. */
const telling = 180_000

/** The heap grows to its working size first. */
const warm = (length: number) => Math.min(120_000, length / 2)

/** Megabytes a minute, by least squares. */
const slope = ({ samples, length }: Findings, of: (sample: Sample) => number): number => {
  const points = samples.filter(({ at }) => at >= warm(length))
  const mean = (value: (sample: Sample) => number) =>
    points.reduce((sum, point) => sum + value(point), 0) / points.length
  const [x, y] = [mean(({ at }) => at), mean(of)]
  const above = points.reduce((sum, point) => sum + (point.at - x) * (of(point) - y), 0)
  const below = points.reduce((sum, { at }) => sum + (at - x) ** 2, 0)
  return below === 0 ? 0 : ((above / below) * 60_000) / mebibyte
}

/** Chance decides which calls are left: a tenth fewer, and three standard deviations, say nothing. */
const fewestLeft = (begun: number, share: number): number =>
  0.9 * share * begun - 3 * Math.sqrt(share * (1 - share) * begun)

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((sum, number) => sum + number, 0)
const failures = ({ wrong }: Tally): number => sum(wrong.values())

export const report = (findings: Findings): readonly string[] => {
  const { tallies, samples, length, sockets } = findings
  const left = sum(tallies.map(({ left }) => left))
  const all = sum(tallies.map((tally) => tally.times.length + tally.left + failures(tally)))
  const lines = [
    `${all} calls in ${length / 60_000} minutes, ${((100 * left) / all).toFixed(1)} % left early`,
    `${findings.rotations} rotations of the enclave's keys, ${findings.restarts} restarts of a second one; ${findings.late} requests met a key that was over`,
  ]
  for (const { name, times, left, wrong } of tallies) {
    const sorted = [...times].sort((one, other) => one - other)
    const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]?.toFixed(0) ?? '–'
    lines.push(`${name}: ${times.length} whole, ${left} left, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`)
    for (const [flaw, times] of wrong) lines.push(`  ${times} × ${flaw}`)
  }
  const megabytes = (bytes: number) => (bytes / mebibyte).toFixed(1)
  for (const name of processes) {
    const last = samples.at(-1)?.[name] ?? { rss: 0, kept: 0 }
    const grows = (of: keyof Memory) => slope(findings, (sample) => sample[name][of]).toFixed(2)
    lines.push(
      `memory of the ${name}: ${megabytes(last.rss)} MB resident (${grows('rss')} MB a minute), ${megabytes(last.kept)} MB kept (${grows('kept')} MB a minute)`,
    )
  }
  for (const name of processes) {
    const { before, loaded, after } = sockets
    lines.push(`sockets of the ${name}: ${before[name]} before, ${loaded[name]} under load, ${after[name]} afterwards`)
  }
  const rest = Object.entries(findings.rest).map(([name, count]) => `${count} ${name}`)
  return [...lines, `left at the end: ${rest.join(', ')}`]
}

/** What must not be, in words. */
export const flawsOf = (findings: Findings): readonly string[] => {
  const { tallies, length, share, sockets, rest } = findings
  const tells = length - warm(length) >= telling
  const grows = (of: keyof Memory) => processes.filter((name) => slope(findings, (sample) => sample[name][of]) > 1)
  const few = tallies.filter(({ begun, left }) => begun > 50 && left < fewestLeft(begun, share))
  return [
    ...tallies.filter((tally) => failures(tally) > 0).map(({ name }) => `unexpected answers of ${name}`),
    ...few.map(({ name }) => `too few left of ${name}`),
    ...tallies.filter(({ times }) => times.length === 0).map(({ name }) => `nothing was answered of ${name}`),
    ...(findings.rotations === 0 ? ['no key was rotated'] : []),
    ...(tells ? grows('kept').map((name) => `what is kept grows in the ${name}`) : []),
    ...(tells ? grows('rss').map((name) => `resident memory grows in the ${name}`) : []),
    ...processes
      .filter((name) => sockets.judged && sockets.after[name] > sockets.before[name])
      .map((name) => `sockets leak in the ${name}`),
    ...Object.entries(rest)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `left at the end: ${count} ${name}`),
  ]
}
