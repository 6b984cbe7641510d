import * as v from 'valibot'
import { Keepsakes } from '../../shared/dialects/keepsakes.ts'
import { BatchEmbedRequest, EmbedRequest, GenerateRequest } from '../../shared/dialects/generate-content/shape.ts'
import { route } from '../../../core/http/route.ts'
import { askNeeds, chatNeeds, countNeeds } from '../shared/chat-needs.ts'
import { lazy } from '../../../core/plugin.ts'
import { Log } from '../../../core/ports/platform.ts'
import type { Settings } from '../../../core/settings.ts'
import { keyHeaders } from '../shared/dialect-route.ts'
import { straightDoor } from '../shared/straight-door.ts'
import { asGoogle, googleFaults } from './dialect-route.ts'

const answering = lazy(() => import('./answer-contents.ts'))

const doorOf = (streams: boolean) =>
  straightDoor(async () => {
    const { contentsTalk } = await answering()
    return { schema: GenerateRequest, talk: contentsTalk(streams) }
  })
const whole = doorOf(false)
const pieces = doorOf(true)

/** `relayed` keeps the members of the body that this dialect does not name, for backends that speak it. */
const shared = {
  method: 'POST',
  access: { scope: 'chats.completion' },
  keyHeaders,
  errors: asGoogle,
  faults: googleFaults,
  body: { read: 'relayed', schema: GenerateRequest, bytes: ({ bodies }: Settings) => bodies.chat, tooLarge: true },
} as const

const generate = route({
  ...shared,
  path: '/v1beta/models/{model}:generateContent',
  summary: 'Answers contents in the Gemini dialect.',
  needs: { ...chatNeeds, keepsakes: Keepsakes },
  straight: whole.straight,
  handle: whole.answer,
})

const stream = route({
  ...shared,
  path: '/v1beta/models/{model}:streamGenerateContent',
  summary: 'Answers contents in the Gemini dialect piece by piece: as events with alt=sse, else as a JSON array.',
  query: v.looseObject({ alt: v.optional(v.picklist(['sse', 'json']), 'json') }),
  needs: { ...chatNeeds, keepsakes: Keepsakes, log: Log },
  straight: (entry, given) =>
    new URLSearchParams(entry.query).get('alt') === 'sse' ? pieces.straight(entry, given) : null,
  handle: async (request, given) =>
    request.query.alt === 'sse' ? pieces.answer(request, given) : (await answering()).listContents(request, given),
})

const CountContentRequest = v.looseObject({
  contents: v.optional(GenerateRequest.entries.contents),
  generateContentRequest: v.optional(GenerateRequest),
})

/** The request whose prompt is counted; the path alone names its model. */
const countedRequest = (input: v.InferOutput<typeof CountContentRequest>): GenerateRequest => {
  const { model: _, ...request } = input.generateContentRequest ?? { contents: input.contents ?? [] }
  return request
}

const count = route({
  ...shared,
  path: '/v1beta/models/{model}:countTokens',
  summary: 'Counts the tokens of contents by the model’s backend; x-sealgate-estimated marks an estimate.',
  body: { ...shared.body, schema: CountContentRequest },
  needs: { ...countNeeds, keepsakes: Keepsakes },
  handle: async (request, given) => (await answering()).countContents(request, countedRequest(request.input), given),
})

const vectors = { ...shared, needs: askNeeds } as const
const embedding = lazy(() => import('./answer-embeddings.ts'))

const embedOne = route({
  ...vectors,
  path: '/v1beta/models/{model}:embedContent',
  summary: 'Makes a vector of a content in the Gemini dialect.',
  body: { ...shared.body, read: 'json', schema: EmbedRequest },
  handle: async (request, given) => (await embedding()).embedOne(request, given),
})

const embedBatch = route({
  ...vectors,
  path: '/v1beta/models/{model}:batchEmbedContents',
  summary: 'Makes vectors of several contents in the Gemini dialect.',
  body: { ...shared.body, read: 'json', schema: BatchEmbedRequest },
  handle: async (request, given) => (await embedding()).embedBatch(request, given),
})

/** The dialect puts the verb behind the model's name, with a colon. */
export const generateContent = [generate, stream, count, embedOne, embedBatch] as const
