import { packFrame } from '../../../plugins/shared/frames.ts'
import { type Job, type JobOutcome, jobOutcome } from '../../../plugins/shared/job-outcome.ts'

/** What became of one file. */
export interface Played {
  readonly kind: JobOutcome['kind']
  /** Ms of CPU. */
  readonly ms: number
  /** In bytes: the answer that a parser's process gives. */
  readonly size: number
}

type Properties = Readonly<Record<PropertyKey, PropertyDescriptor>>

const isSame = (one: PropertyDescriptor | undefined, other: PropertyDescriptor): boolean =>
  one !== undefined && one.get === other.get && Object.is(one.value, other.value)

/** A parser may take globals away or replace them, since its process ends with it: the next one finds them again. */
const restore = (before: Properties): void => {
  const now = Object.getOwnPropertyDescriptors(globalThis) as Properties
  for (const name of Reflect.ownKeys(before))
    if (!isSame(now[name], before[name]!)) Object.defineProperty(globalThis, name, before[name]!)
}

const play = async (job: Job): Promise<Played> => {
  const begun = process.cpuUsage()
  const outcome = await jobOutcome(job)
  const size = packFrame(outcome).reduce((sum, { length }) => sum + length, 0)
  const { user, system } = process.cpuUsage(begun)
  return { kind: outcome.kind, ms: Math.round((user + system) / 1000), size }
}

/** Plays the jobs of many files in one parser's process, one after another, each as if it was alone. */
export default async (jobs: readonly Job[]): Promise<readonly Played[]> => {
  const before = Object.getOwnPropertyDescriptors(globalThis) as Properties
  const played: Played[] = []
  for (const job of jobs) {
    played.push(await play(job))
    restore(before)
  }
  return played
}
