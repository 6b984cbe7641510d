import * as v from 'valibot'
import { chatOperation, chatWords, dropped, session } from '../shared/chat-words.ts'
import { mediaOperations, mediaWords } from '../shared/media-words.ts'
import type { Chapter, Operation } from '../../../core/ports/chapter.ts'
import { estimated, faultWords } from '../shared/reference.ts'

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

const openaiSample = { id: 'rehearsal', object: 'model', created: 1700000000, owned_by: 'rehearsal' }

const spoken: Operation = { asks: session, tells: dropped, statuses: [502] }

const hello = [{ role: 'user', content: 'Say hello.' }]

const messages: Readonly<Record<string, Operation>> = {
  'POST /v1/messages': {
    ...spoken,
    about: 'Other members of the dialect go on to backends that speak it.',
    body: { model: 'rehearsal', max_tokens: 100, messages: hello },
    shape: message,
    answer: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'rehearsal',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 2 },
    },
    types: { 'text/event-stream': 'With `stream`: events from `message_start` to `message_stop`.' },
    words: {
      'answer.type': 'The word `message`.',
      'answer.content': 'Blocks of text, thinking and calls of tools.',
      'content.type': 'The kind of the block.',
    },
  },
  'POST /v1/messages/count_tokens': {
    about:
      'The backend that would answer counts, where it can; no token is charged. Elsewhere the answer is an estimate.',
    body: { model: 'rehearsal', messages: hello },
    shape: v.object({ input_tokens: v.number() }),
    answer: { input_tokens: 9 },
    tells: estimated,
  },
}

const speaksMessages = { 'anthropic-version': 'Any value asks for the form of the Messages dialect.' }

/** The standard media routes serve `/v1` too, so their words are written once. */
const underV1 = Object.fromEntries(
  Object.entries(mediaOperations).map(([name, operation]) => [
    name.replace(' /std/', ' /v1/'),
    { ...operation, words: mediaWords },
  ]),
)

const ranking: Operation = {
  about:
    'A model whose name has `rerank` in it is asked by its backend’s own route, where there is one. ' +
    'Any other embedding model compares the vectors of query and documents, and `meta.engine` says so.',
  body: { model: 'rehearsal-embedding', query: 'Where do herons wait?', documents: ['By the river.', 'In a bank.'] },
  shape: v.object({
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
    usage: v.object({ prompt_tokens: v.number(), total_tokens: v.number() }),
    meta: v.object({ engine: v.picklist(['native', 'embeddings']) }),
  }),
  answer: {
    ...{ id: '0198f0f5-0000-7000-8000-000000000000', object: 'rerank', model: 'rehearsal-embedding' },
    results: [
      { index: 0, relevance_score: 0.61, document: { text: 'By the river.' } },
      { index: 1, relevance_score: 0.12, document: { text: 'In a bank.' } },
    ],
    usage: { prompt_tokens: 14, total_tokens: 14 },
    meta: { engine: 'embeddings' },
  },
  statuses: [502],
  words: {
    'body.query': 'What the documents shall answer.',
    'body.documents': 'Texts, or objects with a `text`; 1,000 at most.',
    'documents.text': 'The text.',
    'body.top_n': 'How many of the best are told; all when absent.',
    'body.return_documents': 'False for answers without the texts.',
    'answer.results': 'The documents, the best one first.',
    'results.index': 'The place of the document in the request.',
    'results.relevance_score': 'How well the document answers the query, from 0 to 1; the scale is the model’s own.',
    'results.document': 'The document.',
    'document.text': 'The text.',
    'answer.usage': 'The tokens that were read.',
    'usage.prompt_tokens': 'Tokens of query and documents.',
    'usage.total_tokens': 'The same.',
    'answer.meta': 'How the answer came about.',
    'meta.engine': '`native` for a reranker, `embeddings` for compared vectors.',
  },
}

const judgements: Readonly<Record<string, Operation>> = {
  'POST /v1/rerank': ranking,
  'POST /v2/rerank': ranking,
  'POST /v1/moderations': {
    about: 'A model whose backend has no such route is a 400.',
    body: { model: 'omni-moderation-latest', input: 'A text that somebody wrote.' },
    answer: { model: 'omni-moderation-latest', results: [{ flagged: false }] },
    shape: v.looseObject({
      model: v.string(),
      results: v.array(v.looseObject({ flagged: v.optional(v.boolean()) })),
    }),
    statuses: [502],
    words: {
      'body.model': 'The name of a model; `omni-moderation-latest` when absent.',
      'body.input': 'A text, several, or parts of text and images.',
      'input.type': 'The kind of the part.',
      'input.text': 'The text.',
      'input.image_url': 'The image.',
      'image_url.url': 'The address of the image, or a data URL.',
      'answer.results': 'A verdict for each input.',
      'results.flagged': 'Whether the vendor’s rules forbid the content.',
    },
  },
}

/** Gemini has the same name for its chapter, so that the reference shows both as one. */
export const chapter: Chapter = {
  name: 'Clients of public dialects',
  about:
    'Clients of OpenAI, Anthropic and Gemini work by their base URL: `/v1` for OpenAI, the bare address for the other two. ' +
    'The key may come in the header that the client knows.',
  words: {
    'path.id': 'The name of a model.',
    'body.messages': 'The conversation, the oldest message first.',
    'messages.role': 'Who says it.',
    'messages.content': 'The text, or a list of parts.',
    'content.type': 'The kind of the part.',
    'body.system': 'What the model is told before the conversation: a text, or parts.',
    'system.type': 'The kind of the part.',
    'tools.name': 'The name of the function.',
    'tools.type': 'The kind of the tool.',
    'tools.description': 'What the function does.',
    'tools.input_schema': 'The arguments of the function, as JSON schema.',
    'tool_choice.type': 'The kind of the choice.',
    thinking: 'Whether and how long the model thinks before it answers.',
    'thinking.type': 'The word `enabled`, `adaptive` or `disabled`.',
    output_config: 'How hard the model works, and the form of its answer.',
    output_format: 'The form of the answer, as JSON schema.',
    max_tokens: 'The most tokens of the answer.',
    stop_sequences: 'Texts at which the answer ends.',
    top_k: 'How many words the model chooses among.',
    'answer.id': 'The id of the answer.',
    'answer.role': 'The word `assistant`.',
    'answer.stop_reason': 'Why the answer ends.',
    'answer.stop_sequence': 'The text at which the answer ended. It is null where none did.',
    'body.input': 'A text, or items: messages, calls of functions and their outputs.',
    'input.type': 'The kind of the item. An item without one is a message.',
    'input.role': 'Who says it.',
    'input.content': 'The text, or a list of parts.',
    'body.instructions': 'What the model is told before the input.',
    'body.store': 'Whether to keep the answer. The gateway refuses true.',
    'body.background': 'Whether to answer later. The gateway refuses true.',
    'body.parallel_tool_calls': 'Whether the model may call several functions at once.',
    'body.max_output_tokens': 'The most tokens of the answer.',
    'body.top_logprobs': 'How many alternatives of each token are told.',
    'body.presence_penalty': 'How much the model avoids words that it has used.',
    'body.frequency_penalty': 'How much the model avoids words that it uses often.',
    'body.reasoning': 'How the model thinks before it answers.',
    'reasoning.effort': 'How hard the model thinks.',
    'reasoning.summary': 'How the thoughts are told.',
    'body.text': 'The form of the text.',
    'text.format': 'Plain text, JSON, or JSON by a schema.',
    'format.type': 'The kind of the form.',
    'body.include': 'What else the answer tells.',
    'body.metadata': 'Words of the caller, which the answer repeats.',
    'body.truncation': 'What happens to an input that is too long.',
    'body.max_tool_calls': 'The most calls of built-in tools.',
    'body.user': 'A name of the caller’s own user.',
    'body.safety_identifier': 'A name of the caller’s own user, for the backend’s safety checks.',
    'body.prompt_cache_key': 'A name of the conversation. Requests of one conversation prefer the same backend.',
    'body.service_tier': 'The backend’s class of service.',
    'answer.created_at': 'The time of the answer, in Unix seconds.',
    'answer.status': 'Whether the answer is complete.',
    'answer.output': 'Messages, thoughts and calls of functions.',
    'output.type': 'The kind of the item.',
    'answer.data': 'The models.',
    'data.id': 'The name to send in requests.',
    'data.object': 'The word `model`.',
    'data.created': 'The time when the model was made, in Unix seconds.',
    'data.owned_by': 'The maker of the model.',
    'answer.object': 'The kind of the answer.',
    'answer.created': 'The time when the model was made, in Unix seconds.',
    'answer.owned_by': 'The maker of the model.',
    ...faultWords,
    'error.type': 'The kind of the error.',
    'error.param': 'The field that is wrong. It is null where no field is.',
    'fault.type': 'The word `error`.',
    'fault.request_id': 'The id of the request.',
  },
  operations: {
    'POST /v1/chat/completions': { ...chatOperation, words: chatWords },
    'POST /v1/responses': {
      ...spoken,
      about: 'The header `x-sealgate-dropped` names members that a backend has no place for.',
      body: { model: 'rehearsal', input: 'Say hello.' },
      shape: response,
      answer: {
        id: 'resp_1',
        object: 'response',
        created_at: 1700000000,
        status: 'completed',
        model: 'rehearsal',
        output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] }],
        usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
      },
      types: { 'text/event-stream': 'With `stream`: events from `response.created` to `response.completed`.' },
    },
    'GET /v1/responses': {
      about:
        'Each message `response.create` has the members of `POST /v1/responses`, and is answered by its events. ' +
        '`previous_response_id` names the last response of the same connection.',
      empty: { 101: 'The connection is open.', 405: 'The request asks for no WebSocket.' },
    },
    ...judgements,
    'POST /v1/responses/input_tokens': {
      about:
        'The backend that would answer counts, where it can; no token is charged. Elsewhere the answer is an estimate.',
      body: { model: 'rehearsal', input: 'Say hello.' },
      shape: v.object({ object: v.literal('response.input_tokens'), input_tokens: v.number() }),
      answer: { object: 'response.input_tokens', input_tokens: 9 },
      tells: estimated,
    },
    ...messages,
    'GET /v1/models': {
      about: 'A name is the `id`, as stock clients expect.',
      asks: speaksMessages,
      shape: v.looseObject({ object: v.optional(v.literal('list')), data: v.array(openaiModel) }),
      answer: { object: 'list', data: [openaiSample] },
    },
    'GET /v1/models/{id}': {
      asks: speaksMessages,
      path: { id: 'rehearsal' },
      shape: openaiModel,
      answer: openaiSample,
      words: { 'answer.id': 'The name to send in requests.', 'answer.object': 'The word `model`.' },
    },
    ...underV1,
  },
}
