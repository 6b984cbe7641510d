import * as v from 'valibot'
import { dropped, session } from '../shared/chat-words.ts'
import type { Chapter, Operation } from '../../../core/ports/chapter.ts'
import { estimated, faultWords } from '../shared/reference.ts'

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

const googleSample = {
  name: 'models/rehearsal',
  displayName: 'rehearsal',
  supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
}

/** What all routes with an answer of a model share. */
const spoken: Operation = { asks: session, tells: dropped, statuses: [502] }

const contents = [{ role: 'user', parts: [{ text: 'Say hello.' }] }]

const operations: Readonly<Record<string, Operation>> = {
  'POST /v1beta/models/{model}:generateContent': {
    ...spoken,
    about: 'Members may be spelled in either of the vendor’s two ways.',
    path: { model: 'rehearsal' },
    body: { contents },
    shape: generated,
    answer: {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 },
    },
  },
  'POST /v1beta/models/{model}:streamGenerateContent': {
    ...spoken,
    path: { model: 'rehearsal' },
    query: { alt: 'sse' },
    body: { contents },
    types: {
      'text/event-stream': 'With `alt=sse`: each piece of the answer as an event.',
      'application/json; charset=utf-8': 'Without it: the pieces as one JSON array.',
    },
  },
  'POST /v1beta/models/{model}:countTokens': {
    about:
      'The backend that would answer counts, where it can; no token is charged. Elsewhere the answer is an estimate.',
    path: { model: 'rehearsal' },
    body: { contents },
    shape: v.object({ totalTokens: v.number() }),
    answer: { totalTokens: 9 },
    tells: estimated,
  },
  'POST /v1beta/models/{model}:embedContent': {
    about: 'The text of all parts becomes one vector, by any embedding model.',
    path: { model: 'rehearsal-embedding' },
    body: { content: { parts: [{ text: 'A heron waits.' }] }, outputDimensionality: 4 },
    shape: v.object({ embedding: vector }),
    answer: { embedding: { values: [0.1, 0.2, 0.3, 0.4] } },
    tells: dropped,
    statuses: [502],
  },
  'POST /v1beta/models/{model}:batchEmbedContents': {
    about: 'All requests name the model of the path, or none.',
    path: { model: 'rehearsal-embedding' },
    body: { requests: [{ content: { parts: [{ text: 'A heron waits.' }] }, outputDimensionality: 4 }] },
    shape: v.object({ embeddings: v.array(vector) }),
    answer: { embeddings: [{ values: [0.1, 0.2, 0.3, 0.4] }] },
    tells: dropped,
    statuses: [502],
  },
  'GET /v1beta/models': { shape: v.object({ models: v.array(googleModel) }), answer: { models: [googleSample] } },
  'GET /v1beta/models/{model}': { path: { model: 'rehearsal' }, shape: googleModel, answer: googleSample },
}

/** The chapter has the name of the other public dialects, so that the reference shows them together. */
export const chapter: Chapter = {
  name: 'Clients of public dialects',
  about:
    'Clients of Gemini work by their base URL, the bare address. The key may come in the header that the client knows.',
  words: {
    'path.model': 'The name of a model.',
    contents: 'The conversation, the oldest turn first.',
    'contents.role': 'Who says it: `user` or `model`.',
    'contents.parts': 'Texts, data, calls of functions and their results.',
    systemInstruction: 'What the model is told before the conversation.',
    system_instruction: 'The same in the other spelling.',
    'systemInstruction.role': 'The role is ignored.',
    'systemInstruction.parts': 'The texts of it.',
    'system_instruction.role': 'The role is ignored.',
    'system_instruction.parts': 'The texts of it.',
    toolConfig: 'Whether the model may or must call a function, or which.',
    generationConfig: 'Bounds and form of the answer.',
    generateContentRequest: 'A whole request whose tokens are counted.',
    'query.alt': 'The form of the stream: `sse` for events, `json` for an array.',
    'answer.candidates': 'The answers. Most requests get one.',
    'candidates.content': 'What the model says.',
    'content.role': 'The word `model`.',
    'content.parts': 'Texts, images and calls of functions.',
    finishReason: 'Why the answer ends.',
    'candidates.index': 'The place of the answer, from 0.',
    usageMetadata: 'The tokens that the request used.',
    promptTokenCount: 'Tokens of the request.',
    candidatesTokenCount: 'Tokens of the answer.',
    totalTokenCount: 'Tokens of both together.',
    totalTokens: 'Tokens of the request.',
    'body.requests': 'Contents, each of which becomes a vector.',
    'body.model': 'The model of the path.',
    'requests.model': 'The model of the path.',
    'body.content': 'The content that becomes a vector.',
    'requests.content': 'The content that becomes a vector.',
    'content.parts.text': 'The text.',
    taskType: 'What the vector is for. It is left out and told.',
    title: 'The title of the text. It is left out and told.',
    outputDimensionality: 'How many numbers the vector has; the same for all requests.',
    'answer.embedding': 'The vector.',
    'answer.embeddings': 'The vectors in the order of the requests.',
    values: 'The numbers of the vector.',
    'answer.models': 'The models.',
    name: 'The name, with `models/` before it.',
    displayName: 'The name to show to people.',
    supportedGenerationMethods: 'What the model can do.',
    ...faultWords,
    'error.status': 'The status as Google names it.',
    'error.details': 'The code, as `reason`.',
  },
  operations,
}
