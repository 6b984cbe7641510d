import type { JsonObject } from '../../../core/dialects/json-object.ts'
import type { ToolCallPart } from '../../../core/ports/upstream.ts'
import { garbled, mostAnswerBytes, parseObject } from '../backend.ts'

/** 1 where the first piece goes on with the open call: an enclave joins chunks, and that piece came before all else. */
export const goesOn = ([first]: readonly ToolCallPart[], open: number | undefined): 0 | 1 =>
  first !== undefined && open !== undefined && (first.index ?? 0) === open ? 1 : 0

/** A call that began before the call that grows was whole. */
interface WaitingCall {
  /** Its first piece. */
  readonly part: ToolCallPart & JsonObject
  readonly number: number
  /** All that its pieces bring. */
  text: string
}

/** The calls of one answer, of which one grows at a time. */
export interface CallsInTurn {
  /** What the pieces of the call that grows have brought. */
  grown: string
  /** By number, in the order in which they began; null in an answer whose calls come one after the other. */
  waiting: Map<number, WaitingCall> | null
  /** Characters that wait. */
  held: number
}

/** The calls of an answer that has none so far. */
export const noCalls = (): CallsInTurn => ({ grown: '', waiting: null, held: 0 })

/**
 * Whether the piece waits for the end of the answer: some backends begin a call before the one that grows is whole. Throws
 * UpstreamFailed where more waits than an answer may have.
 */
export const waits = (calls: CallsInTurn, piece: WaitingCall, isGrowing: boolean): boolean => {
  const { number, part, text } = piece
  if (calls.waiting === null && (!isGrowing || parseObject(calls.grown) !== null)) return false
  const waiting = (calls.waiting ??= new Map<number, WaitingCall>())
  const known = waiting.get(number)
  if (known === undefined) waiting.set(number, piece)
  else known.text += text
  calls.held += known === undefined ? JSON.stringify(part).length : text.length
  if (calls.held > mostAnswerBytes) throw garbled('The calls of the answer are over 64 MiB')
  return true
}

/** The calls that waited, which wait no more. */
export const released = (calls: CallsInTurn): Iterable<WaitingCall> => {
  const { waiting } = calls
  calls.waiting = null
  return waiting?.values() ?? []
}
