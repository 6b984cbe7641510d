import type { Candidate } from '../models/catalog-entry.ts'

type Counter = Candidate<'chat'>

/**
 * The backends that count, up to the first that does not or that rests: a chat might be answered by that one, whose
 * tokens are others.
 */
export const countersFirst = (
  order: readonly Counter[],
  isOpen: (candidate: Counter) => boolean,
): readonly Counter[] => {
  const end = order.findIndex((candidate) => candidate.upstream.countTokens === undefined || isOpen(candidate))
  return end < 0 ? order : order.slice(0, end)
}
