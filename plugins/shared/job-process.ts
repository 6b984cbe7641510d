import { readSync, writeSync } from 'node:fs'
import { type Flaw, Unconfigured, Unreadable } from '../../core/errors.ts'
import { flawOf } from './unreadable-reason.ts'
import { lengthsOf, packFrame, unpackFrame } from './frames.ts'

export interface Job {
  readonly job: string
  readonly input: unknown
}

/** Errors lose their class between processes, and their messages quote the file: only the kind is sent. */
export type JobOutcome =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'unreadable'; readonly flaw: Flaw | null }
  | { readonly kind: 'missing'; readonly engine: string }

/** The job arrives on the first descriptor and the result leaves on the second. A parser's prints go elsewhere. */
const [jobs, results] = [0, 3]

const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

const jobOutcome = async ({ job, input }: Job): Promise<JobOutcome> => {
  try {
    const { default: work } = (await import(new URL(`../${job}${ending}`, import.meta.url).href)) as {
      default: (input: unknown) => unknown
    }
    return { kind: 'done', output: await work(input) }
  } catch (error) {
    if (!(error instanceof Unconfigured)) return { kind: 'unreadable', flaw: await flawIn(error, input) }
    return { kind: 'missing', engine: Object.keys(error.validator ?? {})[0] ?? 'engine' }
  }
}

const flawIn = async (error: unknown, input: unknown): Promise<Flaw | null> => {
  if (error instanceof Unreadable && error.flaw !== null) return error.flaw
  const { bytes } = input as { readonly bytes?: unknown }
  return bytes instanceof Uint8Array ? flawOf(bytes) : null
}

/** Blocks until `length` bytes have arrived. Ends the process when the pipe closes before. */
const read = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length;) {
    const count = readSync(jobs, bytes, at, length - at, null)
    if (count === 0) process.exit(0)
    at += count
  }
  return bytes
}

const take = (): Job => {
  const count = Buffer.from(read(4))
  const head = Buffer.concat([count, read(4 * count.readUInt32LE())])
  const lengths = lengthsOf(head, { values: Infinity, memory: Infinity }) ?? []
  return unpackFrame(lengths.map(read)) as Job
}

const give = (piece: Uint8Array): void => {
  for (let at = 0; at < piece.length;) at += writeSync(results, piece, at)
}

// This byte tells the parent that the process has started.
give(Buffer.of(1))
const given = take()
for (const piece of packFrame(await jobOutcome(given))) give(piece)
process.exit(0)
