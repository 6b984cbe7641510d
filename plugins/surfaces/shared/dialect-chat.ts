import type { Caller } from '../../../core/access/caller.ts'
import type { Pace } from '../../../core/dialects/loop-time.ts'
import type { Tries } from '../../../core/inference/routing/tries.ts'
import type { RequestRecord } from '../../../core/ports/observer.ts'
import type { ChatCall, Dialect } from '../../../core/ports/upstream.ts'
import type { ModelSettings } from '../../../core/settings.ts'
import { callerKey } from '../../shared/caller-key.ts'
import type { TranslatedRequest } from '../../shared/dialects/translated-request.ts'

/** A chat request in any dialect, as its route asks for it. */
export interface DialectChat {
  readonly caller: Caller
  /** The time of the loop that the caller pays for; absent or null where nobody pays. */
  readonly pace?: Pace | null
  readonly model: string
  /** The backend that the caller pins; null for none. */
  readonly provider: string | null
  /** The session that the caller names; null when the conversation's beginning stands for it. */
  readonly session: string | null
  /** What the caller tells of its own retries. */
  readonly tries?: Tries
  /** The caller's credential at a vendor, for backends that take it; null for none. */
  readonly callerKey?: string | null
  /** The record of the request, which takes the model, the backend and the tokens of the call. */
  readonly record?: RequestRecord
  /** The request for a backend of the model that speaks this dialect, undefined for the common one. */
  understand(to: Dialect | undefined, model: ModelSettings): TranslatedRequest
}

/** What came beside the chat, for backends that take it. */
export const besideOf = ({ callerKey: credential }: Pick<DialectChat, 'callerKey'>): ChatCall['beside'] =>
  credential == null ? undefined : { [callerKey]: credential }
