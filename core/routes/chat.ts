import {
  asksUsage,
  ChatRequest,
  endMark,
  printChunk,
  printCompletion,
  split,
  withWholeDeltas,
  withoutUsage,
} from '../dialects/chat-completions.ts'
import type { EventWriter } from '../dialects/event.ts'
import { sentenceOf } from '../dialects/sentence.ts'
import type { GatewayError } from '../errors.ts'
import type { Chunk } from '../ports/upstream.ts'
import { events, text } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { sessionOf } from './session.ts'
import { streamed, talks, wholly, type Talk } from './talking.ts'

const completing = (shown: (chunk: Chunk) => Chunk) =>
  route({
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
      const it = await streamed(talk, given, (model) => writing(model, asksUsage(body), shown), signal)
      const failed = (error: GatewayError) => ({ data: broken(error, id) })
      return events(it.events, failed, () => ({ comment: 'waiting' }), it.headers, it.late)
    },
  })

/** The route of the interface. */
export const complete = completing(withWholeDeltas)

/** The same for clients of the public format, as the backend words it. */
export const untouched = completing((chunk) => chunk)

/** Chunks under the caller's name of the model; the end mark behind them. */
const writing = (model: string, usage: boolean, shown: (chunk: Chunk) => Chunk): EventWriter => ({
  take(chunk, into) {
    const told = usage ? chunk : withoutUsage(chunk)
    if (told !== null) into.push({ data: printChunk(shown(told), model) })
  },
  end: (into) => void into.push({ data: endMark }),
})

/** The last event of a stream that can't be finished; no end mark follows. */
const broken = (error: GatewayError, id: string): string =>
  JSON.stringify({
    error: {
      message: error.told === null ? error.message : sentenceOf(error),
      type: 'upstream_error',
      code: error.code ?? error.status,
      param: null,
      support_id: id,
    },
  })

export const chat = [complete] as const
