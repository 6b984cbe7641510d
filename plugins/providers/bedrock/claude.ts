import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { parseObject } from '../../shared/backend.ts'
import type { Clock } from '../../../core/ports/platform.ts'
import type { ChatCall, Chunk, WireEvents } from '../../../core/ports/upstream.ts'
import { generationOf } from '../shared/messages/generations.ts'
import { eventReader } from '../shared/messages/messages-answers.ts'
import { type Asked, messagesBody } from '../shared/messages/messages.ts'
import { eventOf } from './converse-answers.ts'
import { unpackedFrames } from './event-frames.ts'

/** The request of the Messages dialect as Bedrock takes it: model and stream stand in the address, betas in the body. */
export const claudeBody = (call: ChatCall): { readonly body: JsonObject; readonly request: Asked } => {
  const { body, request } = messagesBody(call, generationOf(call.model))
  const { model: _, stream: __, ...rest } = body
  const betas = call.native?.headers['anthropic-beta']?.split(',').map((beta) => beta.trim())
  return {
    body: { anthropic_version: 'bedrock-2023-05-31', ...(betas && { anthropic_beta: betas }), ...rest },
    request,
  }
}

/** The reader of a stream whose frames carry events of the Messages dialect. */
export const claudeEvents = (request: Asked, clock: Clock, status: number): WireEvents => {
  const read = eventReader(request, clock, status)
  return unpackedFrames<Chunk>(status, (frame, into) => {
    const { kind, event } = eventOf(frame)
    if (kind !== 'chunk') return false
    const data = Buffer.from(String(event['bytes']), 'base64').toString('utf8')
    // Clients of the dialect tell events by their names, which are the types.
    const type = parseObject(data)?.['type']
    return read({ event: typeof type === 'string' ? type : null, data }, into)
  })
}
