import * as v from 'valibot'
import { route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import { messagesPageQuery, messagesBatches, streams } from './shared-routes.ts'

const answering = lazy(() => import('./answer-message-batches.ts'))

const create = route({
  ...messagesBatches,
  ...streams,
  method: 'POST',
  path: '/v1/messages/batches',
  summary: 'Begins a batch of requests in the Messages dialect.',
  body: {
    read: 'stream',
    schema: v.object({ requests: v.array(v.object({ custom_id: v.string(), params: v.looseObject({}) })) }),
  },
  handle: async (request, given) => (await answering()).createMessageBatch(request, given),
})

const list = route({
  ...messagesBatches,
  method: 'GET',
  path: '/v1/messages/batches',
  summary: 'Lists the caller’s own batches in the Messages dialect, newest first.',
  query: messagesPageQuery,
  handle: async (request, given) => (await answering()).listMessageBatches(request, given),
})

const one = route({
  ...messagesBatches,
  method: 'GET',
  path: '/v1/messages/batches/{id}',
  summary: 'Describes a batch in the Messages dialect.',
  handle: async (request, given) => (await answering()).oneMessageBatch(request, given),
})

const cancel = route({
  ...messagesBatches,
  method: 'POST',
  path: '/v1/messages/batches/{id}/cancel',
  summary: 'Cancels a batch in the Messages dialect.',
  handle: async (request, given) => (await answering()).cancelMessageBatch(request, given),
})

const remove = route({
  ...messagesBatches,
  method: 'DELETE',
  path: '/v1/messages/batches/{id}',
  summary: 'Removes a batch in the Messages dialect.',
  handle: async (request, given) => (await answering()).removeMessageBatch(request, given),
})

const results = route({
  ...messagesBatches,
  ...streams,
  method: 'GET',
  path: '/v1/messages/batches/{id}/results',
  summary: 'The results of a batch in the Messages dialect. What they cost is booked before they are first given.',
  handle: async (request, given) => (await answering()).messageBatchResults(request, given),
})

/** Batches, as Anthropic’s clients have them. */
export const messageBatchRoutes = [create, list, one, cancel, remove, results] as const
