import { Unavailable } from './errors.ts'

/**
 * Code that is loaded when a caller first needs it. Callers at once share one load. A load that fails is a fault of the
 * installation, and the next caller loads anew.
 */
export const lazy = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loaded: Promise<T> | null = null
  return () =>
    (loaded ??= load().catch((cause: unknown) => {
      loaded = null
      throw new Unavailable(undefined, { cause })
    }))
}
