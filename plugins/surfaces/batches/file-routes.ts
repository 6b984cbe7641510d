import * as v from 'valibot'
import { route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import { filesQuery, openaiBatches, streams } from './shared-routes.ts'

const answering = lazy(() => import('./answer-files.ts'))

/** The fields of the form; the file is read as it comes in. */
const uploadForm = v.object({
  file: v.string(),
  purpose: v.literal('batch'),
  'expires_after[anchor]': v.optional(v.literal('created_at')),
  'expires_after[seconds]': v.optional(v.string()),
})

const upload = route({
  ...openaiBatches,
  ...streams,
  method: 'POST',
  path: '/v1/files',
  summary: 'Stores a file of requests for a batch at the vendor of their model.',
  body: { read: 'stream', schema: uploadForm, form: uploadForm },
  handle: async (request, given) => (await answering()).uploadFile(request, given),
})

const list = route({
  ...openaiBatches,
  method: 'GET',
  path: '/v1/files',
  summary: 'Lists the caller’s own files of batches, newest first unless `order` is `asc`.',
  query: filesQuery,
  handle: async (request, given) => (await answering()).listFiles(request, given),
})

const one = route({
  ...openaiBatches,
  method: 'GET',
  path: '/v1/files/{id}',
  summary: 'Describes a file of a batch.',
  handle: async (request, given) => (await answering()).oneFile(request, given),
})

const content = route({
  ...openaiBatches,
  ...streams,
  method: 'GET',
  path: '/v1/files/{id}/content',
  summary: 'The lines of a file of a batch. What results cost is booked before they are first given.',
  handle: async (request, given) => (await answering()).fileContent(request, given),
})

const remove = route({
  ...openaiBatches,
  method: 'DELETE',
  path: '/v1/files/{id}',
  summary: 'Removes a file of a batch.',
  handle: async (request, given) => (await answering()).removeFile(request, given),
})

/** Files of batches, as OpenAI’s clients have them. */
export const fileRoutes = [upload, list, one, content, remove] as const
