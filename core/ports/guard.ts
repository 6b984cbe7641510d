import { many } from '../container.ts'

/** The call whose texts a guard sees. */
export interface GuardedCall {
  /** The caller's name of the model. */
  readonly model: string
  /** Null on the caller's own machine. */
  readonly organization: string | null
  /** Where long work is booked to the caller; the next work may begin when the promise resolves. Null where nobody pays. */
  readonly pace?: { spend(ns: number): Promise<void> | null } | null
}

/** A text of a request: what a turn says, a value in the arguments of a tool, a description. */
export interface GuardedText {
  /** The role of its turn; null outside of turns. */
  readonly role: string | null
  readonly text: string
}

/** What a guard decides about one text. */
export interface Verdict {
  /** True ends the call, and no text goes on. */
  readonly refuses?: boolean
  /** Members of the guard's `marks`; the caller learns them. */
  readonly marks?: readonly string[]
}

/** The texts of a request after a guard: changed where the guard hides something. */
export interface GuardedTexts extends Verdict {
  /** As many as were given, in the same order. */
  readonly texts: readonly string[]
}

/** A guard may hold text back until it knows enough, such as the whole of a number. */
export interface GuardedPiece extends Verdict {
  /** The part that goes on now; the rest follows with a later piece or with the end. */
  readonly text: string
}

/** Watches one text of an answer, piece by piece. */
export interface TextWatch {
  /** Gets each piece in its order, and never two at once. */
  take(piece: string): GuardedPiece | Promise<GuardedPiece>
  /** Gives what is still held back. Called once, behind the last piece. */
  end(): GuardedPiece | Promise<GuardedPiece>
}

/** Watches one call. Calls share nothing. */
export interface Watch {
  /** Sees all texts of the request. Called once for each wording of the same request. */
  request?(texts: readonly GuardedText[], signal: AbortSignal): Promise<GuardedTexts>
  /** Begins with each text of the answer. Null when the answer needs no watch, so that no piece of it waits. */
  answer?(): TextWatch | null
}

/** A policy on what goes out and on what comes back. It may refuse, change or mark. An error of a guard ends the call. */
export interface Guard {
  /** The name stands before each mark that a caller reads: `name/mark`. */
  readonly name: string
  /** All words with which it marks: lower case, digits and hyphens. Never a text of a caller. */
  readonly marks: readonly string[]
  /** Called once for each call, before its first text. */
  begin(call: GuardedCall): Watch
  dispose?(): Promise<void> | void
}

/**
 * Guards see a request in their configured order, and an answer in reverse. Each guard sees the text that the
 * guard before it left.
 */
export const Guard = many<Guard>('Guard', { name: 'text', marks: 'list', begin: 'function' })
