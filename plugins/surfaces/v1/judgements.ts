import * as v from 'valibot'
import { ModelName } from '../../../core/dialects/model-name.ts'
import { route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import type { Settings } from '../../../core/settings.ts'
import { listOf } from '../../../core/validate.ts'
import { askNeeds } from '../shared/chat-needs.ts'
import { ofOpenai } from '../shared/dialect-route.ts'

const answering = lazy(() => import('./answer-judgements.ts'))

/** Documents of one request. */
const mostDocuments = 1000

const RerankRequest = v.looseObject({
  model: ModelName,
  query: v.pipe(v.string(), v.minLength(1)),
  documents: listOf(v.union([v.string(), v.looseObject({ text: v.string() })]), 1, mostDocuments),
  top_n: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1))),
  return_documents: v.nullish(v.boolean()),
})

const part = v.variant('type', [
  v.looseObject({ type: v.literal('text'), text: v.string() }),
  v.looseObject({ type: v.literal('image_url'), image_url: v.looseObject({ url: v.string() }) }),
])

const ModerationRequest = v.looseObject({
  /** The name that clients mean who send none. */
  model: v.optional(ModelName, 'omni-moderation-latest'),
  input: v.union([v.string(), listOf(v.string(), 1, mostDocuments), listOf(part, 1, mostDocuments)]),
})

const shared = {
  ...ofOpenai,
  method: 'POST',
  needs: askNeeds,
} as const

const body = { read: 'json', bytes: ({ bodies }: Settings) => bodies.chat, tooLarge: true } as const

const rerank = route({
  ...shared,
  path: '/v1/rerank',
  summary: 'Orders documents by how well they answer a query.',
  body: { ...body, schema: RerankRequest },
  handle: async (request, given) => (await answering()).rerank(request, given),
})

/** Cohere's own client has the path at the bare address. */
const cohere = route({ ...rerank, path: '/v2/rerank' })

const moderations = route({
  ...shared,
  path: '/v1/moderations',
  summary: 'Judges texts and images by the rules of the backend’s vendor.',
  body: { ...body, schema: ModerationRequest },
  handle: async (request, given) => (await answering()).moderate(request, given),
})

/** Doors before backends of vendors that have them. */
export const judgements = [rerank, cohere, moderations] as const
