import { functions, one } from '../container.ts'

/** The time of a process; tests supply their own. */
export interface Clock {
  /** In ms since the epoch. */
  now(): number
  /** Rejects with the signal's reason when the signal fires first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Rings once after `ms`, unless the alarm is restarted or turned off. A restart is cheap, for watching streams. An
   * alarm keeps no process alive.
   */
  alarm(ms: number, ring: () => void): Alarm
}

/** A timer that is cheap to start again, such as for each piece of a stream. */
export interface Alarm {
  /** Restarts the whole wait. Does nothing after the alarm rang or was turned off. */
  again(): void
  /** An alarm that is off never rings. A second call does nothing. */
  off(): void
}

/** Chance; tests supply their own. */
export interface Random {
  /** From the system's secure source, for ids and secrets. */
  bytes(length: number): Uint8Array
  /** From 0 up to but not including 1; not for secrets. */
  fraction(): number
}

/** A request of the gateway to another host. */
export interface Ask {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** A body as it comes in, in place of `body`; only for hosts that the configuration names. */
  readonly stream?: AsyncIterable<Uint8Array>
  /** A redirect is the answer; `outside` follows one otherwise, where its egress policy allows the address. */
  readonly stays?: true
  /** Ends the request at any time, also while its body is read. */
  readonly signal: AbortSignal
  /** In ms until the head of the answer; when absent, only the signal counts. */
  readonly patience?: number
}

/** The head of an answer; its body follows as a stream. */
export interface Answer {
  readonly status: number
  /** The final address, from the door that follows redirects. */
  readonly url?: string
  /** Names are in lower case. */
  header(name: string): string | null
  /**
   * The caller reads the body or calls `discard`: otherwise the answer holds its socket. Ending the iteration early
   * closes the socket.
   */
  readonly body: AsyncIterable<Uint8Array>
  /** Closes the socket and drops the rest. */
  discard(): void
}

/** Hears an answer by calls in place of promises. */
export interface AnswerReader {
  onRequestStart(line: AnswerLine): void
  onResponseStart(line: AnswerLine, status: number, headers: AnswerHeaders): void
  onResponseData(line: AnswerLine, part: Uint8Array): void
  onResponseEnd(line: AnswerLine): void
  onResponseError(line: AnswerLine, error: Error): void
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** The connection of one answer. */
export interface AnswerLine {
  /** Reports its error to the reader at once. */
  abort(reason: Error): void
  pause(): void
  resume(): void
}

/** Posts a body; false where no line stands yet, and then nothing was sent. */
export type Push = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  reader: AnswerReader,
) => boolean

/** Throws UpstreamFailed with `again` without an answer, or the reason of its signal. Any status is an answer. */
export type Door = (url: string, ask: Ask) => Promise<Answer>

/** The only ways out of the process, so that one place holds the egress policy. */
export interface Fetch {
  /** Reaches hosts that the configuration names. */
  readonly upstream: Door
  /** The same by calls in place of promises. */
  readonly push?: Push
  /** Reaches hosts that a user or a model names, within bounds. Throws BadRequest where the policy refuses. */
  readonly outside: Door
  dispose?(): Promise<void>
}

/** Enums, ids, sizes and times. Never text of a user or a backend. */
export type LogFacts = Readonly<Record<string, string | number | boolean | null>>

/** Lines for operators. */
export interface Log {
  info(event: string, facts?: LogFacts): void
  warn(event: string, facts?: LogFacts): void
  /** Writes only class, code and place of `cause` and its causes, since messages quote the parsed text. */
  error(event: string, facts: LogFacts, cause?: unknown): void
  dispose?(): Promise<void> | void
}

/** Most waits go through this clock, so that tests can turn it forward. */
export const Clock = one<Clock>('Clock', functions('now', 'sleep', 'alarm'))
export const Random = one<Random>('Random', functions('bytes', 'fraction'))
/** Plugins get a door from here, and never use the platform's own `fetch`. */
export const Fetch = one<Fetch>('Fetch', functions('upstream', 'outside'))
export const Log = one<Log>('Log', functions('info', 'warn', 'error'))
