import { parentPort, workerData } from 'node:worker_threads'
import { type Flaw, Unconfigured, Unreadable } from '../errors.ts'
import { flawOf } from './flaw.ts'

export interface Given {
  readonly job: string
  readonly input: unknown
}

/** Errors don't travel with their class, and their messages quote what was being read: only the kind goes back. */
export type Told =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'unreadable'; readonly flaw: Flaw | null }
  | { readonly kind: 'missing'; readonly engine: string }

const { job, input } = workerData as Given
const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

const told = async (): Promise<Told> => {
  try {
    const { default: work } = (await import(new URL(`./jobs/${job}${ending}`, import.meta.url).href)) as {
      default: (input: unknown) => unknown
    }
    return { kind: 'done', output: await work(input) }
  } catch (error) {
    if (!(error instanceof Unconfigured)) return { kind: 'unreadable', flaw: await flawIn(error) }
    return { kind: 'missing', engine: Object.keys(error.validator ?? {})[0] ?? 'engine' }
  }
}

const flawIn = async (error: unknown): Promise<Flaw | null> => {
  if (error instanceof Unreadable && error.flaw !== null) return error.flaw
  const { bytes } = input as { readonly bytes?: unknown }
  return bytes instanceof Uint8Array ? flawOf(bytes) : null
}

parentPort!.postMessage(await told())
