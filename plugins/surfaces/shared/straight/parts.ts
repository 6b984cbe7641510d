import { isUtf8 } from 'node:buffer'
import type { AnswerHeaders, Clock } from '../../../../core/ports/platform.ts'
import type { Soon } from '../../../../core/ports/soon.ts'
import type { Whole } from '../../../../core/ports/upstream.ts'
import { faultOf, retryAfterOf } from '../../../shared/backend.ts'
import type { BegunChat } from './begun-chat.ts'

/** Bytes of a refusal that are read for its words. */
export const mostRefusalBytes = 16 * 1024

/** The fault of a backend that answers with such a status. */
export const refusalOf = (status: number, headers: AnswerHeaders, bytes: Buffer, clock: Clock): Error => {
  const header = (name: string) => (headers[name] === undefined ? null : String(headers[name]))
  return faultOf(status, retryAfterOf({ header }, clock), new Error(bytes.toString('utf8', 0, mostRefusalBytes)))
}

/** A whole answer for the caller: the backend's own bytes, where nothing in them has to change. */
export const answerBytes = (
  answer: Whole,
  bytes: Buffer,
  model: string,
  { isCommon, worded }: Pick<BegunChat, 'isCommon' | 'worded'>,
): Soon<string | Uint8Array> => {
  const isSame = isCommon && answer.text !== undefined && answer.completion.model === model
  return isSame && isUtf8(bytes) ? bytes : worded.whole(answer, model)
}
