import * as v from 'valibot'
import type { Operation, Sentences } from '../../../core/ports/chapter.ts'
import written from './media-words.json' with { type: 'json' }
import { operationsOf } from './written-chapter.ts'

const embedded = v.object({
  object: v.literal('list'),
  data: v.array(
    v.object({
      object: v.literal('embedding'),
      index: v.number(),
      embedding: v.union([v.array(v.number()), v.string()]),
    }),
  ),
  model: v.string(),
  usage: v.object({ prompt_tokens: v.number(), total_tokens: v.number(), estimated: v.optional(v.boolean()) }),
})

const drawn = v.looseObject({
  created: v.number(),
  data: v.array(
    v.object({
      b64_json: v.optional(v.string()),
      url: v.optional(v.string()),
      revised_prompt: v.optional(v.string()),
    }),
  ),
})

const drawing = { ...written.drawing, shape: drawn }

const operations = operationsOf(written.operations, {
  'POST /std/embeddings': { shape: embedded },
  'POST /std/images/generations': drawing,
  'POST /std/images/edits': drawing,
  'POST /std/audio/transcriptions': { shape: v.looseObject({ text: v.string() }) },
})

/** The operations by method and path, with examples that the tests check. */
export const mediaOperations: Readonly<Record<string, Operation>> = {
  ...operations,
  'POST /std/audio/translations': operations['POST /std/audio/transcriptions'],
}

/** Sentences for the members of all these operations together. */
export const mediaWords: Sentences = written.words
