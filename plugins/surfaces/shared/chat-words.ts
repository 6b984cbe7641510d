import * as v from 'valibot'
import type { Operation, Sentences } from '../../../core/ports/chapter.ts'
import written from './chat-words.json' with { type: 'json' }

const usage = v.looseObject({ prompt_tokens: v.number(), completion_tokens: v.number(), total_tokens: v.number() })

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
  usage: v.nullish(usage),
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
export const chatOperation: Operation = { ...written.operation, shape: completion, asks: session, tells: dropped }

/** Sentences for the members that requests and answers of chats have. */
export const chatWords: Sentences = written.words
