import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { use } from '../../core/plugin.ts'
import azure from '../../plugins/providers/azure.ts'
import bedrock from '../../plugins/providers/bedrock.ts'
import ollama from '../../plugins/providers/ollama.ts'
import vertex from '../../plugins/providers/vertex.ts'
import { framesOf, wrapped } from './event-frames.ts'
import type { Asked, Take } from './recorded.ts'
import { expectedSignature } from './signature-v4.ts'
import { answersOf, vendorAnswer, vendors } from './vendor-answers.ts'

const folder = 'test/vectors/providers'
const secretAccessKey = 'secret'

/** Models of one backend whose answers are recorded in one folder. */
export interface RecordedModels {
  readonly provider: string
  readonly folder: string
  modelOf(recording: string): string
}

const plain = (provider: string, folder = provider): RecordedModels => ({ provider, folder, modelOf: (name) => name })
const claude = (provider: string): RecordedModels => ({
  ...{ provider, folder: 'anthropic' },
  modelOf: (name) => `claude-${name}`,
})

/** All wires: by the formats of vendors, behind a sign-in, signed, in frames and in lines. */
export const recordedModels: readonly RecordedModels[] = [
  ...vendors.map((name) => plain(name)),
  plain('ollama'),
  plain('azure'),
  plain('entra', 'azure'),
  plain('bedrock'),
  plain('signed', 'bedrock'),
  claude('bedrock'),
  plain('vertex', 'gemini'),
  claude('vertex'),
  { provider: 'vertex', folder: 'groq', modelOf: (name) => `groq/${name}` },
]

/** Backends of the wires that `vendorsAt` lacks, all of them at this address. */
export const wiresAt = (url: string) => [
  use(ollama, { baseUrl: `${url}/ollama` }),
  use(azure, { baseUrl: `${url}/azure`, apiKey: 'k' }),
  use(
    azure,
    { baseUrl: `${url}/azure`, entra: { tenantId: 't', clientId: 'c', clientSecret: 's', authority: url } },
    'entra',
  ),
  use(bedrock, { region: 'eu-central-1', apiKey: 'k', baseUrl: `${url}/bedrock`, listUrl: `${url}/bedrock` }),
  use(
    bedrock,
    {
      ...{ region: 'eu-central-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey, sessionToken: 'session' },
      ...{ baseUrl: `${url}/bedrock`, listUrl: `${url}/bedrock` },
    },
    'signed',
  ),
  use(vertex, { project: 'p', location: 'l', baseUrl: `${url}/vertex`, metadataUrl: url }),
]

/** The credential of a request; of a signed one, whether its signature is that of the request. */
export const credentialOf = (request: Asked): string | undefined => {
  const { authorization = request.headers['x-goog-api-key'] ?? request.headers['api-key'] } = request.headers
  if (!authorization?.toString().startsWith('AWS4')) return authorization?.toString()
  const { signature, expected } = expectedSignature(request, secretAccessKey) ?? {}
  return signature === undefined || signature !== expected ? 'a wrong signature' : 'a right signature'
}

/** Whether a request asks for a token. */
export const isSignIn = ({ path }: Asked): boolean => /\/token$/.test(path)

const token = () => ({
  headers: { 'content-type': 'application/json' },
  body: readFileSync(join(folder, 'vertex/token.json')),
})

/** The recording that a request names, and whether a stream of it. */
const namedIn = ({ path, body }: Asked): { readonly model: string; readonly stream: boolean } => {
  const [, model, act] = /\/models?\/([^/:]+)[/:](\S+)/.exec(path) ?? []
  if (model !== undefined) return { model: decodeURIComponent(model), stream: /stream/i.test(act!) }
  const { model: named, stream = false } = JSON.parse(body.toString()) as { model: string; stream?: boolean }
  return { model: named, stream }
}

/** The folder of a recording, by the backend and the name of its model. */
const folderOf = (provider: string, model: string): string => {
  if (model.startsWith('claude-')) return 'anthropic'
  if (model.includes('/')) return 'groq'
  return provider === 'vertex' ? 'gemini' : provider
}

const typeOf: Readonly<Record<string, string>> = {
  sse: 'text/event-stream',
  ndjson: 'application/x-ndjson',
  frames: 'application/vnd.amazon.eventstream',
}

/** Plays the recording that the model of the request names, on each wire of `recordedModels`. */
export const wireAnswer = (request: Asked): Take => {
  const [, provider = ''] = request.path.split('/')
  if (isSignIn(request)) return token()
  if (vendors.includes(provider)) return vendorAnswer(request)
  const { model, stream } = namedIn(request)
  const at = join(folder, folderOf(provider, model))
  const recording = model.replace(/^(claude-|groq\/)/, '')
  const files = readdirSync(at)
  const streamed = stream ? files.find((file) => file === `${recording}.sse` || file === `${recording}.ndjson`) : null
  if (streamed == null) {
    const status = recording === 'error-key' ? 400 : Number(/^error-(\d+)$/.exec(recording)?.[1] ?? 200)
    if (!files.includes(`${recording}.json`)) return { status: 404, body: '{"error":{"message":"none"}}' }
    return {
      status,
      headers: { 'content-type': 'application/json' },
      body: readFileSync(join(at, `${recording}.json`)),
    }
  }
  const bytes = readFileSync(join(at, streamed))
  const [, ending = ''] = streamed.split('.')
  if (provider !== 'bedrock') return { headers: { 'content-type': typeOf[ending]! }, body: bytes }
  return { headers: { 'content-type': typeOf['frames']! }, body: ending === 'sse' ? wrapped(bytes) : framesOf(bytes) }
}

/** The recordings of these models. */
export const recordingsOf = ({ folder }: RecordedModels): readonly string[] => answersOf(folder)
