import type { Answer, Ask } from '../../core/ports/platform.ts'
import type { Dialect, Upstream, Usage, WireUsage } from '../../core/ports/upstream.ts'

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

/** A request on the vendor's own routes of batches. */
export interface BatchAsk extends Pick<Ask, 'method' | 'stream'> {
  /** Behind the address of the backend; begins with a slash. */
  readonly path: string
  readonly body?: string
  /** The media type of the body; JSON when absent. */
  readonly type?: string
  /** Headers of the caller's request that belong to the dialect. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Batches as a vendor has them. */
export interface Batches {
  /** Whose routes the paths are; a provider and a surface agree on the name. */
  readonly dialect: Dialect
  /** Sends a request under the backend's credential, once. Faults are those of `chat`. */
  send(ask: BatchAsk, signal: AbortSignal): Promise<Answer>
  /** What one line of results counts; null for a request that failed. */
  used(line: Readonly<Record<string, unknown>>): WireUsage | null
}

/** Abilities of some vendors, which doors of this package alone ask for. */
export interface MoreAbilities {
  /** Absent where the backend has no route for it. */
  rerank?(call: RerankCall, signal: AbortSignal): Promise<Reranked>
  moderate?(call: ModerateCall, signal: AbortSignal): Promise<Moderated>
  readonly batches?: Batches
}

/** A backend with what else it can do. */
export const moreOf = (upstream: Upstream): MoreAbilities => upstream as Upstream & MoreAbilities
