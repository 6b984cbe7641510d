import { hash } from 'node:crypto'
import { BadRequest } from '../../errors.ts'
import { isCandidateFor, type Ability, type Candidate, type Entry } from '../models/catalog-entry.ts'

/** A call, as far as the order of its backends depends on it. */
export interface Choice<A extends Ability> {
  readonly entry: Entry
  readonly ability: A
  /** The backend that the caller pins. */
  readonly provider?: string | null
  /** Calls with the same one prefer the same backend. */
  readonly affinity?: string | null
}

/** What the choice rests on beside the call. */
export interface RoutingState {
  /** From 0 up to but not including 1. */
  fraction(): number
  isOpen(candidate: Pick<Candidate, 'id' | 'provider'>): boolean
}

/** Who may serve this call, in which order to ask: by priority, then by lot or by affinity; open breakers last. */
export const orderBackends = <A extends Ability>(
  { entry, ability, provider, affinity }: Choice<A>,
  { fraction, isOpen }: RoutingState,
): readonly Candidate<A>[] => {
  const able = entry.candidates.filter(isCandidateFor(entry.settings, ability))
  const wanted = provider == null ? able : able.filter((candidate) => candidate.provider === provider)
  if (wanted.length === 0) {
    const names = [...new Set(able.map((candidate) => candidate.provider))].join(', ')
    throw new BadRequest('The model is not served by this provider', {
      validator: { provider: `expected one of ${names}` },
    })
  }
  if (wanted.length === 1) return wanted
  return wanted
    .map((candidate) => {
      const lot = affinity == null ? fraction() : spot(affinity, candidate.id)
      // Exponential lots: the smallest falls on each with a chance in proportion to its weight.
      return { candidate, isOpen: isOpen(candidate), lot: -Math.log(1 - lot) / candidate.weight }
    })
    .sort(
      (a, b) =>
        Number(a.isOpen) - Number(b.isOpen) || a.candidate.priority - b.candidate.priority || compare(a.lot, b.lot),
    )
    .map(({ candidate }) => candidate)
}

// Lots of weight 0 are infinite, and the difference of two such is no number.
const compare = (a: number, b: number) => (a < b ? -1 : a > b ? 1 : 0)

/** A place between 0 and 1 that only the two names decide. */
const spot = (affinity: string, id: string): number =>
  hash('sha256', `${affinity}\n${id}`, 'buffer').readUIntBE(0, 6) / 2 ** 48
