import { AsyncLocalStorage } from 'node:async_hooks'
import type { Usage } from '../ports/upstream.ts'
import { total } from './tokens.ts'

/** What one call of a model took. */
export interface Use {
  /** As callers name it. */
  readonly model: string
  readonly backend: string
  readonly usage: Usage | null
  readonly audioSeconds: number | null
}

const open = new AsyncLocalStorage<Use[]>()
let bills = 0

/** Writes into `uses` what models do for this piece of work, however deep within, and whether it succeeds or not. */
export const billing = async <T>(uses: Use[], work: () => Promise<T>): Promise<T> => {
  bills++
  try {
    return await open.run(uses, work)
  } finally {
    // Following who asked for what slows every promise of the process.
    if (--bills === 0) open.disable()
  }
}

export const bill = (use: Use): void => void open.getStore()?.push(use)

/** All uses as one, by the name of the last. */
export const summed = (uses: readonly Use[]) => {
  const { model = null, backend = null } = uses.at(-1) ?? {}
  const told = uses.flatMap(({ usage }) => (usage === null ? [] : [usage]))
  const heard = uses.flatMap(({ audioSeconds }) => (audioSeconds === null ? [] : [audioSeconds]))
  return {
    model,
    backend,
    usage: told.length === 0 ? null : total(told),
    audioSeconds: heard.length === 0 ? null : heard.reduce((sum, seconds) => sum + seconds, 0),
  }
}
