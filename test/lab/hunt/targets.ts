import * as v from 'valibot'
import { catalog } from '../../../plugins/shared/models/catalog.ts'
import { inference } from '../../../core/inference/inference.ts'
import { ChatRequest } from '../../../core/dialects/chat-completions.ts'
import { AudioRequest } from '../../../plugins/sealed/enclave/audio.ts'
import { EmbeddingRequest } from '../../../plugins/sealed/enclave/embeddings.ts'
import { checkedConfig } from '../../../adapters/production/config/config.ts'
import { fetch } from '../../../adapters/production/platform.ts'
import { toolsOf } from '../../../adapters/production/config/named-plugins.ts'
import cache from '../../../adapters/memory/cache.ts'
import { clock, log, random } from '../../../adapters/memory/platform.ts'
import { namedPath, type AnyRoute } from '../../../core/http/route.ts'
import { plugin, use } from '../../../core/plugin.ts'
import { Tool } from '../../../core/ports/tool.ts'
import { decisionRequest } from '../../../plugins/surfaces/decision/decision-shape.ts'
import { Settings, SettingsShape } from '../../../core/settings.ts'
import { lengths } from '../../../plugins/sealed/wire/body.ts'
import { fitted } from '../../fitted.ts'
import { type Spoiled, spoiledOf } from './bodies.ts'
import { formType, spoiledForms } from './forms.ts'
import { type Envelope, plainIn } from './sealing.ts'
import { sampleOf } from './shape.ts'
import { everyRoute } from '../../every-route.ts'

/** Something that takes bodies. */
export interface Target {
  readonly name: string
  readonly method: string
  /** `{key}` stands for the id of a key that may be changed. */
  readonly path: string
  readonly type: string
  /** Bytes of a body; of the JSON inside where it is sealed. */
  readonly limit: number
  /** How the bodies are sealed before they are sent; null where they go in the clear. */
  readonly envelope: Envelope | null
  readonly bodies: readonly Spoiled[]
  /** Statuses of 500 and more that are an answer of its own. */
  readonly declared: readonly number[]
}

const settings = v.parse(SettingsShape, {})

const hex = (bytes: number): string => '0a'.repeat(bytes)

const sealedAudio = {
  encryptedInference: hex(32),
  cipherText: hex(1120),
  nonce: hex(24),
  fileNameNonce: hex(24),
  encryptedFileName: hex(32),
  fileNonce: hex(24),
  encryptedFile: hex(64),
  enclaveKid: hex(8),
}

const lasting = { expires_at: 4_000_000_000_000, addresses: ['127.0.0.0/8'] }

const drawing = { model: 'drawing', provider: 'constant' }
const conversation = { model: 'chatting', provider: 'constant', stream: false }

/** Where a valid field is another than any, or absent: models and providers are those of the configuration. */
const known: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '/v1/chat/completions': conversation,
  '/v1/responses': {
    ...conversation,
    store: false,
    background: false,
    tools: [],
    tool_choice: 'auto',
    text: {},
    include: [],
  },
  '/v1/messages': { ...conversation, tools: [] },
  '/v1/messages/count_tokens': { model: 'chatting', tools: [] },
  '/v1/embeddings': { model: 'embedding', provider: 'constant' },
  '/v1/images/generations': drawing,
  '/v1/audio/speech': { model: 'speaking', provider: 'constant' },
  '/v1/audio/transcriptions': { model: 'hearing', provider: 'constant', temperature: '0.5', granularities: ['word'] },
  '/std/chat/completions': { model: 'chatting', provider: 'constant', stream: false },
  '/std/embeddings': { model: 'embedding', provider: 'constant' },
  '/std/images/generations': drawing,
  '/v1/images/edits': { ...drawing, stream: 'false', mask: undefined, extra: undefined },
  '/std/images/edits': { ...drawing, stream: 'false', mask: undefined, extra: undefined },
  '/std/audio/speech': { model: 'speaking', provider: 'constant' },
  '/std/audio/transcriptions': { model: 'hearing', provider: 'constant', temperature: '0.5', granularities: ['word'] },
  '/compat/v1/decision': {
    model: 'chatting',
    provider: 'constant',
    images: [],
    videos: [],
    samples: 1,
    steps: 1,
    escalate: false,
  },
  '/v1/responses/input_tokens': {
    model: 'chatting',
    tools: [],
    tool_choice: 'auto',
    text: {},
    store: false,
    background: false,
    include: [],
  },
  '/v1/rerank': { model: 'embedding' },
  '/v2/rerank': { model: 'embedding' },
  '/v1/moderations': { model: 'chatting' },
  '/v1beta/models/{model}:embedContent': { model: undefined, outputDimensionality: undefined },
  '/v1beta/models/{model}:batchEmbedContents': { requests: [{ content: { parts: [{ text: 'A text.' }] } }] },
  '/v1/decisions': {
    model: 'chatting',
    input: 'A text.',
    questions: [{ type: 'predicate', instructions: 'Is it so?' }],
    escalate: false,
  },
  '/api/alpha/decisions': { model: 'chatting', provider: 'constant', images: [], videos: [], escalate: false },
  '/compat/v1/systemone': {
    model: 'chatting',
    provider: 'constant',
    images: [],
    videos: [],
    samples: 1,
    steps: 1,
    escalate: false,
  },
  '/rvenc/audio/transcriptions': sealedAudio,
  '/rvenc/audio/translations': sealedAudio,
  '/files/encrypted/upload': { encrypted_content: hex(64), file_id: undefined },
  '/tools/{id}': { fileId: undefined },
  'tools/searchRag': { file_ids: undefined },
  // No drill plays.
  '/admin/drill': { model: 'none', scenes: ['S01'] },
  '/admin/keys': lasting,
  '/admin/keys/{id}': lasting,
  'rvenc/chat/completions': { model: 'chatting', provider: 'constant', stream: false },
  'rvenc/decision': {
    model: 'chatting',
    provider: 'constant',
    images: [],
    videos: [],
    samples: 1,
    steps: 1,
    escalate: false,
  },
  'rvenc/embeddings': { model: 'chatting', provider: 'constant' },
  'rvenc/audio/transcriptions': { model: 'hearing' },
  'rvenc/audio/translations': { model: 'hearing' },
  // Nothing is asked of the world.
  'tools/webPageScraperTool': { url: 'http://hunt.invalid/', renderJs: false },
  'tools/getTime': { timezone: 'UTC' },
  'tools/createFileForUser': {
    fileExtension: 'docx',
    mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  },
}

/** Bytes of the bodies that a route reads as they come in. */
const streamed: Readonly<Record<string, number>> = {
  '/ehbp/v1/chat/completions': settings.bodies.chat,
  '/v1/files': settings.bodies.file,
  '/v1/messages/batches': settings.bodies.file,
  '/files/encrypted/upload': 2 * settings.bodies.file + 256 * 1024,
  '/rvenc/audio/transcriptions': 2 * (lengths.audio + 16) + 512 * 1024,
  '/rvenc/audio/translations': 2 * (lengths.audio + 16) + 512 * 1024,
}

const ids: Readonly<Record<string, string>> = {
  '/tools/{id}': 'createFileForUser',
  '/admin/keys/{id}': '{key}',
  '/files/encrypted/{id}': 'file_none',
}

/** A valid body: the fields of its schema, with those that are known otherwise. */
const validBody = (schema: v.GenericSchema, route: string): Readonly<Record<string, unknown>> => {
  const fields = { ...(sampleOf(schema) as object), ...known[route] }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** The field of a form that is a file, where it is no `file`. */
const fileField: Readonly<Record<string, string>> = { '/std/images/edits': 'image', '/v1/images/edits': 'image' }

const plainTarget = ({ method, path, body }: AnyRoute): Target => {
  const sample = validBody(body!.schema, path)
  const bytes = body!.read === 'stream' ? streamed[path]! : body!.bytes
  const form = body!.read === 'form'
  return {
    name: `${method} ${path}`,
    method,
    path: namedPath(path, settings)
      .replace('{id}', ids[path] ?? '')
      .replace('{model}', /[eE]mbed/.test(path) ? 'embedding' : 'chatting'),
    type: form ? formType : 'application/json',
    limit: typeof bytes === 'function' ? bytes(settings) : bytes,
    envelope: null,
    bodies: form ? spoiledForms(sample, fileField[path]) : spoiledOf(sample),
    declared: beyond[path] ?? [],
  }
}

const key = new Uint8Array(32)
const chatLimit = plainIn(settings.bodies.chat * 2 + 8192)

const sealedTarget = (route: string, schema: v.GenericSchema, envelope: Envelope): Target => ({
  name: `sealed ${route}`,
  method: 'POST',
  path: `/${route}`,
  type: 'application/json',
  limit: chatLimit,
  envelope,
  bodies: spoiledOf({ ...validBody(schema, route), $for: route }),
  declared: beyond[route] ?? [],
})

/** Where the world is asked, it may fail. */
const beyond: Readonly<Record<string, readonly number[]>> = {
  // No backend of the hunt takes batches.
  '/v1/messages/batches': [400],
  'tools/webSearchTool': [502],
  'tools/webPageScraperTool': [502],
}

const partsOf: Readonly<Record<Tool['kind'], Envelope['parts']>> = {
  simple: {},
  'reads-file': { encryptedFileDek: { nonce: 'fileNonce', bytes: key } },
  'makes-file': { encryptedFileDek: { nonce: 'fileNonce', bytes: key } },
  retrieval: { encryptedRagDek: { nonce: 'ragDekNonce', bytes: key } },
}

const kept = { kid: 'a', wrappedDek: '0a'.repeat(40) }

const sealedTool = ({ name, kind, params }: Tool): Target =>
  sealedTarget(`tools/${name}`, params, {
    params: 'encryptedParams',
    parts: partsOf[kind],
    beside: kind === 'makes-file' ? kept : {},
  })

/** As the enclave has them. */
const allTools = async (): Promise<readonly Tool[]> => {
  const told = plugin({ port: Settings, name: 'settings', create: () => settings })
  const doors = [use(clock), use(random), use(log), use(cache), use(fetch, {}), use(told)]
  const container = fitted(
    ...doors,
    use(catalog, { inside: true }),
    use(inference),
    ...(await toolsOf(checkedConfig({}, {}))),
  )
  return container.supply({ tools: Tool }).tools
}

const chatEnvelope: Envelope = { params: 'encryptedInference', parts: {}, beside: {} }
const audioEnvelope: Envelope = {
  ...chatEnvelope,
  parts: {
    encryptedFileName: { nonce: 'fileNameNonce', bytes: Buffer.from('a.wav') },
    encryptedFile: { nonce: 'fileNonce', bytes: Buffer.alloc(64) },
  },
}

/** Every route that takes a body, and every chapter of the enclave that opens JSON. */
export const targets = async (): Promise<readonly Target[]> => [
  ...everyRoute.filter(({ body }) => body !== undefined).map(plainTarget),
  sealedTarget('rvenc/chat/completions', ChatRequest, chatEnvelope),
  sealedTarget('rvenc/decision', decisionRequest, chatEnvelope),
  sealedTarget('rvenc/embeddings', EmbeddingRequest, chatEnvelope),
  sealedTarget('rvenc/audio/transcriptions', AudioRequest, audioEnvelope),
  sealedTarget('rvenc/audio/translations', AudioRequest, audioEnvelope),
  ...(await allTools()).map(sealedTool),
]
