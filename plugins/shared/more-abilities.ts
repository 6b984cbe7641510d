import type { Upstream, Usage } from '../../core/ports/upstream.ts'

/** Texts that are put in order by how well they answer a query. */
export interface RerankCall {
  /** The backend's own name of the model. */
  readonly model: string
  readonly query: string
  readonly documents: readonly string[]
}

/** A document by its place in the call. */
export interface Relevance {
  readonly index: number
  readonly score: number
}

export interface Reranked {
  /** Each document once, in any order. */
  readonly relevances: readonly Relevance[]
  readonly usage: Usage
}

/** Texts or parts whose content is judged by the vendor's rules. */
export interface ModerateCall {
  readonly model: string
  readonly input: unknown
}

export interface Moderated {
  /** The vendor's own answer. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Abilities of some vendors, which doors of this package alone ask for. */
export interface MoreAbilities {
  /** Absent where the backend has no route for it. */
  rerank?(call: RerankCall, signal: AbortSignal): Promise<Reranked>
  moderate?(call: ModerateCall, signal: AbortSignal): Promise<Moderated>
}

/** A backend with what else it can do. */
export const moreOf = (upstream: Upstream): MoreAbilities => upstream as Upstream & MoreAbilities
