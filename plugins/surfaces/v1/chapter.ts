import * as v from 'valibot'
import { chatOperation, chatWords, dropped, session } from '../shared/chat-words.ts'
import { mediaOperations, mediaWords } from '../shared/media-words.ts'
import type { Chapter } from '../../../core/ports/chapter.ts'
import { estimated, faultWords } from '../shared/reference.ts'
import { operationsOf } from '../shared/written-chapter.ts'
import written from './chapter.json' with { type: 'json' }

const message = v.looseObject({
  id: v.string(),
  type: v.literal('message'),
  role: v.literal('assistant'),
  model: v.string(),
  content: v.array(v.looseObject({ type: v.string() })),
  stop_reason: v.nullable(v.string()),
  stop_sequence: v.nullable(v.string()),
  usage: v.looseObject({ input_tokens: v.number(), output_tokens: v.number() }),
})

const response = v.looseObject({
  id: v.string(),
  object: v.literal('response'),
  created_at: v.number(),
  status: v.picklist(['completed', 'incomplete', 'failed', 'in_progress']),
  model: v.string(),
  output: v.array(v.looseObject({ type: v.string() })),
  usage: v.nullable(v.looseObject({ input_tokens: v.number(), output_tokens: v.number(), total_tokens: v.number() })),
})

const openaiModel = v.looseObject({
  id: v.string(),
  object: v.optional(v.literal('model')),
  created: v.optional(v.number()),
  owned_by: v.optional(v.string()),
})

const ranking = v.object({
  id: v.string(),
  object: v.literal('rerank'),
  model: v.string(),
  results: v.array(
    v.object({
      index: v.number(),
      relevance_score: v.number(),
      document: v.optional(v.object({ text: v.string() })),
    }),
  ),
  usage: v.object({ prompt_tokens: v.number(), total_tokens: v.number(), estimated: v.optional(v.boolean()) }),
  meta: v.object({ engine: v.picklist(['native', 'embeddings']) }),
})

const moderation = v.looseObject({
  model: v.string(),
  results: v.array(v.looseObject({ flagged: v.optional(v.boolean()) })),
})

const spoken = { asks: session, tells: dropped }

const asks = { 'anthropic-version': 'Any value asks for the form of the Messages dialect.' }

const operations = operationsOf(written.operations, {
  'POST /v1/messages': { ...spoken, shape: message },
  'POST /v1/messages/count_tokens': { shape: v.object({ input_tokens: v.number() }), tells: estimated },
  'POST /v1/responses': { ...spoken, shape: response },
  'POST /v1/responses/input_tokens': {
    shape: v.object({ object: v.literal('response.input_tokens'), input_tokens: v.number() }),
    tells: estimated,
  },
  'POST /v1/rerank': { shape: ranking },
  'POST /v1/moderations': { shape: moderation },
  'GET /v1/models': {
    asks,
    shape: v.looseObject({ object: v.optional(v.literal('list')), data: v.array(openaiModel) }),
    answer: { object: 'list', data: [written.operations['GET /v1/models/{model}'].answer] },
  },
  'GET /v1/models/{model}': { asks, shape: openaiModel },
})

/** The standard media routes serve `/v1` too, so their words are written once. */
const underV1 = Object.fromEntries(
  Object.entries(mediaOperations).map(([name, operation]) => [
    name.replace(' /std/', ' /v1/'),
    { ...operation, words: mediaWords },
  ]),
)

/** Gemini has the same name for its chapter, so that the reference shows both as one. */
export const chapter: Chapter = {
  name: written.name,
  about: written.about,
  words: { ...faultWords, ...written.words },
  operations: {
    'POST /v1/chat/completions': { ...chatOperation, words: chatWords },
    ...operations,
    'POST /v2/rerank': operations['POST /v1/rerank'],
    ...underV1,
  },
}
