import * as v from 'valibot'
import type { Chapter } from '../../../core/ports/chapter.ts'
import { dropped, session } from '../shared/chat-words.ts'
import { estimated, faultWords } from '../shared/reference.ts'
import { chapterOf } from '../shared/written-chapter.ts'
import written from './chapter.json' with { type: 'json' }

const generated = v.looseObject({
  candidates: v.array(
    v.looseObject({
      content: v.looseObject({ role: v.string(), parts: v.array(v.looseObject({})) }),
      finishReason: v.optional(v.string()),
      index: v.optional(v.number()),
    }),
  ),
  usageMetadata: v.optional(
    v.looseObject({ promptTokenCount: v.number(), candidatesTokenCount: v.number(), totalTokenCount: v.number() }),
  ),
})

const vector = v.object({ values: v.array(v.number()) })

const googleModel = v.looseObject({
  name: v.string(),
  displayName: v.string(),
  supportedGenerationMethods: v.array(v.string()),
})

/** What all routes with an answer of a model share. */
const spoken = { asks: session, tells: dropped }

const { words, ...rest } = written

/** The chapter has the name of the other public dialects, so that the reference shows them together. */
export const chapter: Chapter = chapterOf(
  { ...rest, words: { ...words, ...faultWords } },
  {
    'POST /v1beta/models/{model}:generateContent': { ...spoken, shape: generated },
    'POST /v1beta/models/{model}:streamGenerateContent': spoken,
    'POST /v1beta/models/{model}:countTokens': { shape: v.object({ totalTokens: v.number() }), tells: estimated },
    'POST /v1beta/models/{model}:embedContent': { shape: v.object({ embedding: vector }), tells: dropped },
    'POST /v1beta/models/{model}:batchEmbedContents': {
      shape: v.object({ embeddings: v.array(vector) }),
      tells: dropped,
    },
    'GET /v1beta/models': {
      shape: v.object({ models: v.array(googleModel) }),
      answer: { models: [written.operations['GET /v1beta/models/{model}'].answer] },
    },
    'GET /v1beta/models/{model}': { shape: googleModel },
  },
)
