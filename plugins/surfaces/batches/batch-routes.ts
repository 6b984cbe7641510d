import * as v from 'valibot'
import { route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import { openaiBatches, pageQuery } from './shared-routes.ts'

const answering = lazy(() => import('./answer-batches.ts'))

const CreateBatch = v.strictObject({
  input_file_id: v.pipe(v.string(), v.maxLength(128)),
  endpoint: v.picklist(['/v1/chat/completions', '/v1/embeddings', '/v1/responses']),
  completion_window: v.literal('24h'),
  metadata: v.nullish(v.record(v.pipe(v.string(), v.maxLength(64)), v.pipe(v.string(), v.maxLength(512)))),
  output_expires_after: v.nullish(v.strictObject({ anchor: v.literal('created_at'), seconds: v.number() })),
})

const create = route({
  ...openaiBatches,
  method: 'POST',
  path: '/v1/batches',
  summary: 'Begins a batch of the requests in a file.',
  body: { read: 'json', schema: CreateBatch, bytes: 64 * 1024, tooLarge: true },
  handle: async (request, given) => (await answering()).createBatch(request, given),
})

const list = route({
  ...openaiBatches,
  method: 'GET',
  path: '/v1/batches',
  summary: 'Lists the caller’s own batches, newest first.',
  query: pageQuery,
  handle: async (request, given) => (await answering()).listBatches(request, given),
})

const one = route({
  ...openaiBatches,
  method: 'GET',
  path: '/v1/batches/{id}',
  summary: 'Describes a batch.',
  handle: async (request, given) => (await answering()).oneBatch(request, given),
})

const cancel = route({
  ...openaiBatches,
  method: 'POST',
  path: '/v1/batches/{id}/cancel',
  summary: 'Cancels a batch.',
  handle: async (request, given) => (await answering()).cancelBatch(request, given),
})

/** Batches, as OpenAI’s clients have them. */
export const batchRoutes = [create, list, one, cancel] as const
