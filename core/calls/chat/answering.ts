import type { Caller } from '../../access/caller.ts'
import type { Supplied } from '../../container.ts'
import {
  type ChatRequest,
  asksUsage,
  endMark,
  printCompletion,
  split,
  withoutUsage,
} from '../../dialects/chat-completions.ts'
import type { EventWriter } from '../../dialects/event.ts'
import { chunkPrinter } from '../../dialects/repeated-chunks.ts'
import { sentenceOf } from '../../dialects/sentence.ts'
import type { GatewayError } from '../../errors.ts'
import type { Chunk } from '../../ports/upstream.ts'
import { type Reply, events, text } from '../../http/reply.ts'
import type { Request } from '../../http/route.ts'
import type { chatNeeds } from '../../inference/chat-needs.ts'
import { sessionOf } from '../../inference/routing/session.ts'
import { streamedAnswer, wholeAnswer, type DialectChat } from '../../inference/answer-chat.ts'

/** The answer of a chat, whole or as a stream of chunks that `shown` words. */
export const answered = async (
  { id, input, caller, headers, signal }: Request<ChatRequest, unknown, Caller>,
  given: Supplied<typeof chatNeeds>,
  shown: Shown,
): Promise<Reply> => {
  const { model, provider, stream, body } = split(input)
  const understood = { body, dropped: [] }
  const session = sessionOf(headers, body['prompt_cache_key'])
  const talk: DialectChat = { caller, model, provider, session, understand: () => understood }
  if (!stream) {
    const { answer, model: name, headers } = await wholeAnswer(talk, given, signal)
    return text(printCompletion(answer.completion, name, answer.text), undefined, 200, headers)
  }
  const it = await streamedAnswer(talk, given, (model) => writing(model, asksUsage(body), shown), signal)
  const failed = (error: GatewayError) => ({ data: broken(error, id) })
  return events(it.events, failed, () => ({ comment: 'waiting' }), it.headers, it.late)
}

/** A chunk under the caller's name of the model; `json` is the chunk as the backend words it, where nothing was changed. */
export type Shown = (chunk: Chunk, model: string, json: string | null) => string

/** Chunks under the caller's name of the model; the end mark behind them. */
const writing = (model: string, usage: boolean, shown: Shown): EventWriter => {
  const print = chunkPrinter((chunk, json) => {
    const told = usage ? chunk : withoutUsage(chunk)
    return told && shown(told, model, told === chunk ? json : null)
  })
  return {
    take(chunk, into) {
      const data = print(chunk)
      if (data !== null) into.push({ data })
    },
    end: (into) => void into.push({ data: endMark }),
  }
}

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
