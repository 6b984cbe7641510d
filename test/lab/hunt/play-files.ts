import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { Unreadable } from '../../../core/errors.ts'
import { runApart } from '../../../plugins/shared/run-apart.ts'
import type { CrashWatch } from './crash-watch.ts'
import { type Kind, fileOf } from './file-kinds.ts'
import type { Parser } from './file-parsers.ts'
import type { Played } from './many-files-job.ts'

/** A file of a hunt, and the seed that makes it again. */
export interface Hunted {
  readonly kind: Kind
  readonly seed: number
  readonly bytes: Uint8Array
}

export interface End {
  /** `read`, `refused`, or what else happened. */
  readonly end: string
  /** Ms by the wall, or of CPU in a process with other files. */
  readonly ms: number
}

/** Ms that one file may take: two jobs of the longest, and a machine that does other work. */
export const patienceMs = 45_000

/** Ms for files that share a process. */
const sharedMs = 120_000

/** In bytes: what a parser's process may answer. */
const mostAnswer = 16 * 1024 * 1024

const cores = availableParallelism()

const read = async ({ kind, bytes }: Hunted): Promise<End> => {
  const began = performance.now()
  const end = await kind.parser.read(fileOf(kind, bytes), AbortSignal.timeout(patienceMs)).then(
    () => 'read',
    (error: unknown) => (error instanceof Unreadable ? 'refused' : String((error as Error).name)),
  )
  return { end, ms: Math.round(performance.now() - began) }
}

const isWithin = ({ boundMs }: Parser, { end, ms }: End): boolean =>
  end === 'read' || (end === 'refused' && ms < boundMs)

/**
 * Reads a file as a tool does, in processes of its own, while no other file is read. On a busy machine the clock ends
 * parsers that work little, so that their CPU decides.
 */
export const playAlone = async (file: Hunted, watch: CrashWatch): Promise<End> => {
  const outcome = await read(file)
  const [crash] = await watch.taken()
  if (crash !== undefined) return { ...outcome, end: `crashed: ${crash}` }
  if (outcome.end !== 'refused' || isWithin(file.kind.parser, outcome)) return outcome
  const [worked] = file.kind.parser.job === null ? [] : ((await playShared([file])) ?? [])
  await watch.taken()
  if (worked !== undefined && worked.ms < file.kind.parser.boundMs) return endOf(worked)
  return { ...outcome, end: `ended after ${outcome.ms} ms` }
}

const endOf = ({ kind, ms }: Played): End => ({ end: kind === 'done' ? 'read' : 'refused', ms })

/** What became of files that share a parser's process; null when it ended, or reads no whole file any more. */
const playShared = async (files: readonly Hunted[]): Promise<readonly Played[] | null> => {
  const whole = await Promise.all([...new Set(files.map(({ kind }) => kind))].map(wholeOf))
  const jobs = [...files, ...whole].map(({ kind, bytes }) => kind.parser.job!(fileOf(kind, bytes)))
  const all = AbortSignal.timeout(2 * sharedMs)
  const played = await runApart<readonly Played[]>('../test/lab/hunt/many-files-job', jobs, all, {
    time: sharedMs,
  }).catch(unlessUnreadable)
  if (played === null || !played.slice(files.length).every(({ kind }) => kind === 'done')) return null
  return played.slice(0, files.length)
}

/** The ends of files that share a parser's process; null for each that has to be played alone. */
export const playTogether = async (files: readonly Hunted[]): Promise<readonly (End | null)[]> => {
  const played = await playShared(files)
  return files.map(({ kind: { parser } }, at) => {
    const outcome = played?.[at]
    const isSuspect =
      outcome === undefined ||
      outcome.kind === 'missing' ||
      outcome.size > mostAnswer ||
      outcome.ms > parser.boundMs / 2
    return isSuspect ? null : endOf(outcome)
  })
}

const unlessUnreadable = (error: unknown): null => {
  if (error instanceof Unreadable) return null
  throw error
}

const wholeOf = async (kind: Kind): Promise<Hunted> => ({ kind, seed: 0, bytes: await kind.whole() })

/** The ends of files that are decoded at once, each in processes of its own; null for each that has to be played alone. */
export const playAtOnce = async (files: readonly Hunted[], watch: CrashWatch): Promise<readonly (End | null)[]> => {
  const turn = pLimit(cores)
  const ends = await Promise.all(files.map((file) => turn(read, file)))
  const crashes = await watch.taken()
  return ends.map((end, at) => (crashes.length === 0 && isWithin(files[at]!.kind.parser, end) ? end : null))
}
