import { many } from '../container.ts'
import type { Settings } from '../settings.ts'

/**
 * `left`: the call was abandoned before its first output, because another backend was faster or the caller left.
 * `broke`: the stream of the answer broke.
 */
export const outcomes = ['answered', 'failed', 'left', 'broke'] as const
export type Outcome = (typeof outcomes)[number]

/** The reason of an attempt: the first of its call, the next one after a fault or a silence, or the rescue of a broken stream. */
export type Cause = 'first' | 'next' | 'rescue'

/** What observers learn of an attempt besides its end. */
export interface SeenAttempt {
  readonly model: string
  readonly streams: boolean
  readonly cause: Cause | null
  /** The id of the request for which the backend was asked; absent for a call of the gateway's own. */
  readonly request?: string | undefined
}

/** What is known when a backend is asked. */
export interface AttemptStart {
  readonly backend: string
  readonly model: string
  readonly cause: Cause
  readonly streams: boolean
  /** The id of the request; absent for a call of the gateway's own. */
  readonly request?: string | undefined
}

/** Ends an attempt; the status is that of a failure. */
export type EndAttempt = (outcome: Outcome, status: number | null) => void

/** What the line of a request in the log tells of its calls. The meter writes it. */
export interface RequestRecord {
  /** The request's id. */
  readonly id: string
  /** Of the last call; null without one. A sealed call has its model when it is settled. */
  model: string | null
  /** Null where none answered. */
  backend: string | null
  /** Of all calls, of the prompts and of the answers. */
  tokens: number
}

/** What was counted of a call. */
export interface Counted {
  readonly model: string
  /** Null when none answered. */
  readonly backend: string | null
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
}

/** The parts of the gateway write here what they do for one request that is watched. No method throws. */
export interface Trace {
  /** The model that the request is for. */
  chose(model: string): void
  /** Why this model was chosen, where the caller did not name it; in words of the configuration. */
  because?(why: string): void
  /** A backend is asked. */
  asks(attempt: AttemptStart): EndAttempt
  /** The stream of the answering backend broke. */
  broke(backend: string, status: number | null): void
  /** The first token of a stream has come. */
  began(): void
  /** Requests of several calls add them up. */
  used(counted: Counted): void
  /** Called once, with the HTTP status, after the last byte. `ms` counts from the head of the request. */
  ended(status: number, ms: number): void
}

/** What a request is when its route and its caller are known. */
export interface BegunRequest {
  readonly id: string
  /** Unix time in ms. */
  readonly at: number
  readonly route: string
  /** The header of the caller's own trace, unchecked. */
  readonly traceparent?: string | string[] | undefined
  /** Null for a request whose key was refused, as the next one. */
  readonly organization: string | null
  readonly key: string | null
}

/** The owner of a budget. */
export type Holder = 'key' | 'team' | 'organization' | 'gateway'

/** The recorded usage of a call. */
export interface Used {
  readonly model: string
  /** The provider that answered. */
  readonly backend: string
  /** In tokens, like the next three. `cached` is a part of `input`, and `reasoning` a part of `output`. */
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
  /** In millionths of the currency; null when the price is unknown. */
  readonly cost: number | null
  /** Who asked; `team` is null for a key without a team. */
  readonly organization: string
  readonly team: string | null
  /** The id of the key. */
  readonly key: string
  /** Pairs such as `feature=search` that the caller gave to the request. */
  readonly tags: readonly string[]
}

/** A share of a budget that is reached. */
export interface ReachedShare {
  readonly of: Holder
  /** The name of an organisation, `organization/team`, or the id of a key. */
  readonly whose: string
  readonly period: string
  /** The name of the allowance, the same in every process. */
  readonly name: string
  /** When the window ends, in Unix ms; absent for a window without an end. */
  readonly until?: number
  /** Of the whole budget. */
  readonly percent: number
  /** Unix ms. */
  readonly at: number
}

/**
 * Watches requests, calls of backends, use and budgets. Every hook is called synchronously on the way of a request, so it
 * returns at once. An absent hook costs nothing. No hook sees a caller's text.
 */
export interface Observer {
  /** A request has come; always before its `left`. */
  came?(): void
  /** The last byte is written. `route` is a pattern or `none`, status 499 a client that left, `traceparent` that of `begin`. */
  left?(route: string, status: number, ms: number, traceparent?: BegunRequest['traceparent']): void
  /** A fault of the gateway was answered. `kind` is the name of the error's class. */
  failed?(kind: string): void
  /** A chat goes straight, or the long way for this reason. */
  went?(way: 'straight' | 'long', why: string): void
  /** A request was refused with 429. `limit` is one of a few words. */
  limited?(limit: string): void
  /** Whether `begin` is called for requests that begin now. */
  isWatching?(): boolean
  /** The route and the caller of a request are known. Null for a request that is not watched. */
  begin?(request: BegunRequest): Trace | null
  /** Settings and backends count from now on: at the start, and after a reload. */
  renewed?(): void
  /**
   * A call of a backend has ended. `ms` counts from the request, or from the start of a stream that broke. `status` is the
   * status of a failure; null without one. The cause of `attempt` is null for a stream that broke.
   */
  saw?(provider: string, outcome: Outcome, ms: number, status: number | null, attempt: SeenAttempt): void
  /** The first token of a stream has come, so many ms after the reservation. */
  firstToken?(model: string, ms: number): void
  /** Called once for each call that was recorded. */
  used?(use: Used): void
  /** The part of a budget that is used or reserved until then. `whose` names an organisation, `organization/team`, or a key. */
  stands?(of: Holder, whose: string, period: string, part: number, until: number): void
  /** A budget has reached a share. Called once for each window among all processes that share a limiter. */
  reached?(share: ReachedShare, settings: Settings): void
}

/** Hears how each call of a backend ended. */
export type Saw = Required<Observer>['saw']

export const Observer = many<Observer>('Observer')

/** The trace of the request for which the caller works; null outside of any that is watched. */
export type CurrentTrace = () => Trace | null

/** The enclave has none: what happens inside stays inside. */
export const CurrentTrace = many<CurrentTrace>('CurrentTrace')
