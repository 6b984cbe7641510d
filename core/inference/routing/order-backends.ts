import { hash } from 'node:crypto'
import { BadRequest } from '../../errors.ts'
import type { ChatBody, Message } from '../../ports/upstream.ts'
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

/**
 * A mark that calls of one conversation share: made of the session that the caller names, else of the conversation's
 * beginning. Neither can be read from it. Null where there is no choice.
 */
export const affinityOf = (
  entry: Entry,
  organization: string,
  { messages }: ChatBody,
  session: string | null = null,
): string | null => {
  if (entry.candidates.length < 2) return null
  if (session !== null) return shortHash([entry.name, organization, 'session', session])
  const system = messages.find(({ role }) => role === 'system' || role === 'developer')
  const user = messages.find(({ role }) => role === 'user')
  return shortHash([entry.name, organization, beginning(system), beginning(user)])
}

const shortHash = (parts: readonly string[]): string => hash('sha256', parts.join('\0'), 'hex').slice(0, 16)

/** Characters of a message, and parts of it, that tell conversations apart. */
const tellingCharacters = 16_384
const parts = 64

/** The beginning of the text, and of an image its length and end. */
const beginning = (message: Message | undefined): string => {
  const content = message?.content
  if (typeof content === 'string') return content.slice(0, tellingCharacters)
  return (content ?? [])
    .slice(0, parts)
    .map(
      ({ type, text, image_url }) =>
        text?.slice(0, tellingCharacters) ?? `${type} ${image_url?.url.length} ${image_url?.url.slice(-64)}`,
    )
    .join('\0')
}
