import type { Chapter } from '../../../core/ports/chapter.ts'
import { catalogWords, listed } from '../shared/catalog-words.ts'
import { faultWords } from '../shared/reference.ts'
import { chapterOf } from '../shared/written-chapter.ts'
import written from './chapter.json' with { type: 'json' }

const { decision: body, answered } = written.samples

const request = { 'x-typesafe-request-id': 'The id of the request.' }

const leftOut = { 'x-sealgate-dropped': 'Members of the request without an effect here.' }

export const decision: Chapter = chapterOf(
  { ...written, words: { ...catalogWords, ...written.words } },
  {
    'POST /compat/v1/decision': { body, answer: { ...answered, diagnostics: {} }, tells: request },
    'POST /compat/v1/systemone': { body, answer: { ...answered, x_diagnostics: {} }, tells: request },
    'POST /v1/decisions': { tells: leftOut, words: { ...faultWords, ...written.publicWords } },
    'POST /api/alpha/decisions': {
      body,
      answer: { id: '0198f0f5-0000-7000-8000-000000000000', ...answered, provider: 'use-lite' },
      tells: leftOut,
    },
    'GET /compat/v1/models': {
      answer: {
        object: 'list',
        data: [listed],
        models: [{ name: 'use-lite', description: listed.description, release_date: '2023-11-14' }],
      },
      tells: request,
    },
  },
)
