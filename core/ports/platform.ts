import { one } from '../container.ts'

/** What a process takes from outside, so that a test can give it something else. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Rejects with the signal's reason when that fires first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Rings once after `ms`, unless it is put off again or turned off. Cheap to put off: made for watching streams. Keeps no process alive. */
  alarm(ms: number, ring: () => void): Alarm
}

export interface Alarm {
  /** Starts the whole wait anew; after it rang or was turned off, nothing. */
  again(): void
  off(): void
}

export interface Random {
  bytes(length: number): Uint8Array
  /** From 0 up to but not including 1; not for secrets. */
  fraction(): number
}

export interface Ask {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal: AbortSignal
  /** Ms until the answer's head must be there; the signal alone counts when absent. */
  readonly patience?: number
}

export interface Answer {
  readonly status: number
  /** Where it came from in the end, of the door that follows redirects. */
  readonly url?: string
  /** Lower-case names. */
  header(name: string): string | null
  /** Read it, or call `discard`: an answer that is neither holds its socket. Ending the iteration early closes the socket. */
  readonly body: AsyncIterable<Uint8Array>
  /** Closes the socket without reading on. */
  discard(): void
}

/** Throws UpstreamFailed with `again` when no answer came, and the signal's reason when that fired. Any status is an answer. */
export type Door = (url: string, ask: Ask) => Promise<Answer>

export interface Fetch {
  /** To hosts that the configuration names. */
  readonly upstream: Door
  /** To hosts that a user or a model names: through the egress policy, redirects included, cut at its size and time limits. Throws BadRequest for what the policy refuses. */
  readonly outside: Door
  dispose?(): Promise<void>
}

/** Enums, ids, sizes and times. Never text that a user or a backend wrote. */
export type LogFacts = Readonly<Record<string, string | number | boolean | null>>

export interface Log {
  info(event: string, facts?: LogFacts): void
  warn(event: string, facts?: LogFacts): void
  /** Writes only class, code and place of `cause` and its causes, since messages quote the parsed text. */
  error(event: string, facts: LogFacts, cause?: unknown): void
  dispose?(): Promise<void> | void
}

export const Clock = one<Clock>('Clock')
export const Random = one<Random>('Random')
export const Fetch = one<Fetch>('Fetch')
export const Log = one<Log>('Log')
