import { BadRequest } from '../../errors.ts'
import type { ChatBody } from '../../ports/upstream.ts'
import { inputOf } from '../metering/tokens.ts'
import type { Candidate } from '../models/catalog-entry.ts'

type Window = Pick<Candidate, 'context'>

/** The backends that hold the prompt by guess; the largest where none does, since a guess refuses nobody. */
export const largeEnough = <C extends Window>(order: readonly C[], body: ChatBody): readonly C[] => {
  if (order.length < 2 || order.every(({ context }) => context === null)) return order
  const tokens = inputOf(body)
  const large = order.filter(({ context }) => context === null || context >= tokens)
  if (large.length > 0) return large
  const most = Math.max(...order.map(sizeOf))
  return order.filter((candidate) => sizeOf(candidate) === most)
}

/** An unknown window is never the larger one. */
const sizeOf = ({ context }: Window): number => context ?? 0

/** What one search has learned about prompts that are too long. */
export interface Overflow {
  /** True for a backend that is no larger than the one that could not hold the prompt. */
  passesOver(candidate: Window): boolean
  /** Whether a larger backend may be asked after this fault. A search turns once. */
  turns(candidate: Window, fault: unknown): boolean
}

/** What the backends of one search say of the prompt's length. */
export const overflowOf = (order: readonly Window[]): Overflow => {
  /** Tokens that were too few; 0 before the turn. */
  let tooFew = 0
  const passesOver = (candidate: Window): boolean => tooFew > 0 && sizeOf(candidate) <= tooFew
  return {
    passesOver,
    turns(candidate, fault) {
      if (!(fault instanceof BadRequest) || fault.code !== 'context_length_exceeded') return false
      // A backend that was asked at the same time as the smaller one says nothing new.
      if (passesOver(candidate)) return true
      const { context } = candidate
      if (tooFew > 0 || context === null || !order.some((candidate) => sizeOf(candidate) > context)) return false
      tooFew = context
      return true
    },
  }
}
