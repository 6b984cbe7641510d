import * as v from 'valibot'
import type { Operation } from '../../../core/ports/chapter.ts'

const usage = v.object({
  prompt_tokens: v.number(),
  completion_tokens: v.number(),
  total_tokens: v.number(),
})

const completion = v.looseObject({
  id: v.string(),
  object: v.literal('chat.completion'),
  created: v.number(),
  model: v.string(),
  choices: v.array(
    v.looseObject({
      index: v.number(),
      message: v.looseObject({ role: v.literal('assistant'), content: v.nullable(v.string()) }),
      finish_reason: v.nullable(v.string()),
    }),
  ),
  usage: v.nullish(v.looseObject(usage.entries)),
})

/** Headers by which a caller tells its conversations apart. */
export const session = {
  'session-id': 'A name of the conversation. Requests of one conversation prefer the same backend.',
} as const

/** Headers of answers that tell what the gateway did with the request. */
export const dropped = {
  'x-sealgate-dropped': 'Members of the request that a backend of the model has no place for.',
  'x-sealgate-guards': 'Marks of the guards that saw the call, as `guard/mark`.',
} as const

/** The words of a chat call, for every path under which it is served. */
export const chatOperation: Operation = {
  about: 'Members that are not named here go to the backend untouched, such as `tools` and `response_format`.',
  body: { model: 'rehearsal', messages: [{ role: 'user', content: 'Say hello.' }], stream: false },
  shape: completion,
  answer: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1700000000,
    model: 'rehearsal',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
  },
  types: {
    'text/event-stream':
      'With `stream`: chunks of the common format, then `[DONE]`. A stream that breaks ends with an error.',
  },
  asks: session,
  tells: dropped,
  statuses: [502],
}

/** Sentences for the members that requests and answers of chats have. */
export const chatWords = {
  'body.messages': 'The conversation, the oldest message first.',
  'messages.role': 'Who says it.',
  'messages.content': 'The text, or parts such as texts, images, sounds and files.',
  'content.type': 'The kind of the part, such as `text` or `image_url`.',
  'answer.id': 'The id of the answer.',
  'answer.object': 'The word `chat.completion`.',
  'answer.created': 'The time of the answer, in Unix seconds.',
  'answer.model': 'The model as the caller named it.',
  'answer.choices': 'The answers. Most requests get one.',
  'choices.index': 'The place of the answer, from 0.',
  'choices.message': 'What the model says.',
  'choices.finish_reason': 'Why the answer ends: `stop`, `length`, `tool_calls` or `content_filter`.',
  'message.role': 'The word `assistant`.',
  'message.content': 'The text. It is null where the model only calls functions.',
} as const
