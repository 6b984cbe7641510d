import {
  asksUsage,
  ChatRequest,
  endMark,
  printChunk,
  printCompletion,
  split,
  withoutUsage,
} from '../dialects/chat-completions.ts'
import type { EventWriter } from '../dialects/event.ts'
import type { GatewayError } from '../errors.ts'
import { events, text } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { sessionOf } from './session.ts'
import { streamed, talks, wholly, type Talk } from './talking.ts'

export const complete = route({
  method: 'POST',
  path: '/std/chat/completions',
  summary: 'Answers a conversation, whole or as a stream of events.',
  access: { scope: 'chats.completion' },
  body: { read: 'json', schema: ChatRequest, bytes: ({ bodies }) => bodies.chat },
  needs: talks,
  async handle({ id, input, caller, headers, signal }, given) {
    const { model, provider, stream, body } = split(input)
    const understood = { body, dropped: [] }
    const session = sessionOf(headers, body['prompt_cache_key'])
    const talk: Talk = { caller, model, provider, session, understand: () => understood }
    if (!stream) {
      const { answer, model: name, headers } = await wholly(talk, given, signal)
      return text(printCompletion(answer.completion, name, answer.text), undefined, 200, headers)
    }
    const it = await streamed(talk, given, (model) => writing(model, asksUsage(body)), signal)
    const failed = (error: GatewayError) => ({ data: broken(error, id) })
    return events(it.events, failed, () => ({ comment: 'waiting' }), it.headers)
  },
})

/** Chunks as they are, under the caller's name of the model; the end mark behind them. */
const writing = (model: string, usage: boolean): EventWriter => ({
  take(chunk, into) {
    const told = usage ? chunk : withoutUsage(chunk)
    if (told !== null) into.push({ data: printChunk(told, model) })
  },
  end: (into) => void into.push({ data: endMark }),
})

/** The last event of a stream that can't be finished; no end mark follows. */
const broken = (error: GatewayError, id: string): string =>
  JSON.stringify({
    error: { message: error.message, type: 'upstream_error', code: error.status, param: null, support_id: id },
  })

export const chat = [complete] as const
