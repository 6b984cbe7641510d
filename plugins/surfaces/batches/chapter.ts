import * as v from 'valibot'
import type { Chapter, Operation } from '../../../core/ports/chapter.ts'
import { dropped } from '../shared/chat-words.ts'
import { faultWords } from '../shared/reference.ts'

const file = v.looseObject({ id: v.string(), object: v.string(), bytes: v.number(), purpose: v.string() })
const batch = v.looseObject({ id: v.string(), object: v.string(), status: v.string(), input_file_id: v.string() })
const messageBatch = v.looseObject({ id: v.string(), type: v.string(), processing_status: v.string() })

const fileSample = { id: 'file-abc', object: 'file', bytes: 120, purpose: 'batch' }
const batchSample = { id: 'batch_abc', object: 'batch', status: 'in_progress', input_file_id: 'file-abc' }
const messageSample = { id: 'msgbatch_abc', type: 'message_batch', processing_status: 'in_progress' }

const listOf = <T extends v.GenericSchema>(item: T) => v.looseObject({ data: v.array(item), has_more: v.boolean() })
const fails: Pick<Operation, 'statuses'> = { statuses: [400, 404, 502] }
const lines = { 'application/octet-stream': 'One line of JSON for each request.' }

const operations: Readonly<Record<string, Operation>> = {
  'POST /v1/files': {
    ...fails,
    about: 'Each line has `custom_id`, `method`, `url` and `body`; all lines ask one model and one `url`.',
    form: { file: 'requests.jsonl', purpose: 'batch' },
    shape: file,
    answer: fileSample,
    tells: dropped,
  },
  'GET /v1/files': { ...fails, shape: listOf(file), answer: { object: 'list', data: [fileSample], has_more: false } },
  'GET /v1/files/{id}': { ...fails, path: { id: 'file-abc' }, shape: file, answer: fileSample },
  'GET /v1/files/{id}/content': { ...fails, path: { id: 'file-abc' }, types: lines },
  'DELETE /v1/files/{id}': {
    ...fails,
    path: { id: 'file-abc' },
    shape: v.looseObject({ id: v.string(), deleted: v.boolean() }),
    answer: { id: 'file-abc', deleted: true },
  },
  'POST /v1/batches': {
    ...fails,
    body: { input_file_id: 'file-abc', endpoint: '/v1/chat/completions', completion_window: '24h' },
    shape: batch,
    answer: batchSample,
  },
  'GET /v1/batches': {
    ...fails,
    shape: listOf(batch),
    answer: { object: 'list', data: [batchSample], has_more: false },
  },
  'GET /v1/batches/{id}': { ...fails, path: { id: 'batch_abc' }, shape: batch, answer: batchSample },
  'POST /v1/batches/{id}/cancel': { ...fails, path: { id: 'batch_abc' }, shape: batch, answer: batchSample },
  'POST /v1/messages/batches': {
    ...fails,
    about: 'All requests ask one model.',
    body: {
      requests: [
        {
          custom_id: 'one',
          params: { model: 'rehearsal', max_tokens: 64, messages: [{ role: 'user', content: 'Say hello.' }] },
        },
      ],
    },
    shape: messageBatch,
    answer: messageSample,
    tells: dropped,
  },
  'GET /v1/messages/batches': {
    ...fails,
    shape: listOf(messageBatch),
    answer: { data: [messageSample], has_more: false },
  },
  'GET /v1/messages/batches/{id}': {
    ...fails,
    path: { id: 'msgbatch_abc' },
    shape: messageBatch,
    answer: messageSample,
  },
  'POST /v1/messages/batches/{id}/cancel': {
    ...fails,
    path: { id: 'msgbatch_abc' },
    shape: messageBatch,
    answer: messageSample,
  },
  'DELETE /v1/messages/batches/{id}': {
    ...fails,
    path: { id: 'msgbatch_abc' },
    shape: v.looseObject({ id: v.string(), type: v.string() }),
    answer: { id: 'msgbatch_abc', type: 'message_batch_deleted' },
  },
  'GET /v1/messages/batches/{id}/results': { ...fails, path: { id: 'msgbatch_abc' }, types: lines },
}

/** The words on batches and their files. */
export const chapter: Chapter = {
  name: 'Batches',
  about: 'Batches of a vendor, and their files. A key reaches those of its own organisation and user.',
  words: {
    'path.id': 'The vendor’s id of the batch or of the file.',
    'query.limit': 'How many at most; 100 is the most.',
    'query.after': 'The id behind which the list goes on.',
    'query.after_id': 'The id behind which the list goes on.',
    'query.order': '`asc` lists the oldest first.',
    'query.purpose': '`batch` lists the files of requests, and `batch_output` those of results.',
    'query.before_id': 'The id before which the list ends.',
    'body.file': 'The lines of JSON.',
    'body.purpose': 'The word `batch`.',
    'body.expires_after[anchor]': 'From when the time counts, after which the vendor removes the file.',
    'body.expires_after[seconds]': 'That time in seconds.',
    'body.input_file_id': 'The file with the requests.',
    'body.endpoint': 'The path that all requests ask.',
    'body.completion_window': 'The time in which the vendor answers.',
    'body.metadata': 'Pairs that the vendor keeps with the batch.',
    'body.output_expires_after': 'When the vendor removes the results.',
    'output_expires_after.anchor': 'From when the time counts.',
    'output_expires_after.seconds': 'The time in seconds.',
    'body.requests': 'The requests.',
    'requests.custom_id': 'The caller’s name of the request, which its result bears.',
    'requests.params': 'A request of `POST /v1/messages`.',
    'answer.id': 'The vendor’s id.',
    'answer.object': 'The word `file` or `batch`, or `list`.',
    'answer.bytes': 'The length in bytes.',
    'answer.purpose': 'The word `batch`.',
    'answer.status': 'How far the batch is.',
    'answer.input_file_id': 'The file with the requests.',
    'answer.type': 'The kind of the answer.',
    'answer.processing_status': 'How far the batch is.',
    'answer.deleted': 'Whether it was removed.',
    'answer.data': 'The things, the newest first.',
    'answer.has_more': 'Whether older ones follow.',
    'data.id': 'The vendor’s id.',
    'data.object': 'The word `file` or `batch`.',
    'data.bytes': 'The length in bytes.',
    'data.purpose': 'The word `batch`.',
    'data.status': 'How far the batch is.',
    'data.input_file_id': 'The file with the requests.',
    'data.type': 'The kind of the answer.',
    'data.processing_status': 'How far the batch is.',
    ...faultWords,
    'error.type': 'The kind of the error.',
    'error.param': 'The member that is wrong; null for none.',
    'fault.type': 'The word `error`.',
    'fault.request_id': 'The id of the request.',
  },
  operations,
}
