import type { BackendProof } from '../ports/backend-evidence.ts'
import type { ChatBody, ChatCall, Chunks, Dialect, Ongoing, TokenCount, Whole, WireUsage } from '../ports/upstream.ts'
import type { Ability, Candidate, Entry } from './models/catalog-entry.ts'
import type { Tries } from './routing/tries.ts'

/** What every call says of itself, whichever ability it needs. */
export interface TaskOptions {
  readonly entry: Entry
  /** The backend that the caller pins. */
  readonly provider?: string | null
  /** Calls with the same one prefer the same backend. */
  readonly affinity?: string | null
  /** Ms for all attempts together; `timeouts.total` when absent. */
  readonly total?: number
  /** What the caller tells of its own retries. */
  readonly tries?: Tries
  /** The id of the request for which the call is made, for observers. */
  readonly request?: string
}

/** A call of one ability. */
export interface Task<A extends Ability = Ability> extends TaskOptions {
  readonly ability: A
}

/** A chat call, in the common format and in any dialect that fits a backend better. */
export interface ChatTask extends TaskOptions {
  readonly body: ChatBody
  readonly stream: boolean
  /** Whose part of the backends' prompt caches is used; no part is named when absent. */
  readonly organization?: string
  /** Ms to the first token of a stream over all attempts, of which the last backend has what is left; `timeouts.total` bounds them when absent. */
  readonly patience?: number
  /** The same for a backend that speaks this dialect, undefined for the common one; `body` for all when absent. */
  readonly fit?: (dialect: Dialect | undefined) => FittedRequest
  /** A backend gets of it what the backend takes. */
  readonly beside?: ChatCall['beside']
}

/** A prompt that is counted by the backends that a chat would ask. */
export type CountTask = Omit<ChatTask, 'stream' | 'patience' | 'organization'>

/** The request of one backend: the common body, and the native one where the backend speaks its dialect. */
export type FittedRequest = Pick<ChatCall, 'body' | 'native' | 'beside'>

/** An answer with its facts. The facts of a stream change while it runs. */
export interface Served<A extends Whole | Chunks = Whole | Chunks> {
  readonly answer: A
  /** Who answers; null until a stream's first token. */
  readonly backend: string | null
  /** The same as `provider/model`, by the backend's own name of the model. */
  readonly by?: string
  /** The evidence under which this backend received the request; absent when none was required. */
  readonly proven?: BackendProof | undefined
  /** As the backend counted, all parts of a rescued answer together; null while or when it did not say. */
  readonly usage: WireUsage | null
  /** Characters of text that were given so far. */
  readonly size: number
  /** Backends that broke amid the answer, each with all counts up to its end. */
  readonly broken?: readonly { readonly by: string; readonly upTo: WireUsage }[]
  /** Each backend that was asked, in order, as often as it was. */
  readonly tried: readonly string[]
  /** Attempts that the caller does not know of yet. The route that reports an attempt removes it. */
  readonly notes: string[]
}

/** The calls to backends. */
export interface Calls {
  /** Throws BadRequest when the pinned provider does not serve the model, and what the last backend threw when none answers. */
  run<T, A extends Ability>(
    task: Task<A>,
    ask: (candidate: Candidate<A>, signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: T; readonly backend: string; readonly by: string }>
  /** As `run`, for an answer that goes on: resolves with the first part, and retries only until then. The signal ends what is left. */
  stream<Answer extends Ongoing<unknown>, A extends Ability>(
    task: Task<A>,
    ask: (candidate: Candidate<A>, signal: AbortSignal) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: Answer; readonly backend: string; readonly by: string }>
  /** Of the kind that was asked for. A stream is given at once and connects on its first `next`, which rejects when no backend answers. */
  chat(task: ChatTask & { readonly stream: true }, signal: AbortSignal): Promise<Served<Chunks>>
  chat(task: ChatTask & { readonly stream: false }, signal: AbortSignal): Promise<Served<Whole>>
  chat(task: ChatTask, signal: AbortSignal): Promise<Served>
  /**
   * Counts a prompt by the backend that would answer a chat. Each backend is asked once, and the next one after a fault.
   * Null where the backend whose turn it is does not count.
   */
  count(task: CountTask, signal: AbortSignal): Promise<TokenCount | null>
}
