import { type Flaw, Unconfigured, Unreadable } from '../../core/errors.ts'
import { flawOf } from './unreadable-reason.ts'

/** A parser's work: `job` is the path of a file below `plugins`. */
export interface Job {
  readonly job: string
  readonly input: unknown
}

/** Errors lose their class between processes, and their messages quote the file: only the kind is sent. */
export type JobOutcome =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'unreadable'; readonly flaw: Flaw | null }
  | { readonly kind: 'missing'; readonly engine: string }

const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/** Runs a job in this process and turns its errors into an outcome. */
export const jobOutcome = async ({ job, input }: Job): Promise<JobOutcome> => {
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
