import * as v from 'valibot'
import { accepted, BaseUrl, garbled, readObject } from '../shared/backend.ts'
import { printJson } from '../shared/print-json.ts'
import { UpstreamFailed } from '../../core/errors.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch, Random, type Answer } from '../../core/ports/platform.ts'
import {
  type ChatCall,
  Upstream,
  type Model,
  type EmbedCall,
  type Embedded,
  type ChatWire,
} from '../../core/ports/upstream.ts'
import { modelTypes } from '../../core/settings.ts'
import { chatBackend } from './shared/chat-backend.ts'
import { bare } from './shared/generate-content/count-content.ts'
import { generateContentBackend, kindOf, meant } from './shared/generate-content/generate-content-backend.ts'
import { generationOf } from './shared/messages/generations.ts'
import { unsampled, messagesBody } from './shared/messages/messages.ts'
import { signIn } from './shared/sign-in.ts'
import { signedFetch } from './shared/signed-fetch.ts'
import { countBody, countOf } from './shared/messages/count-messages.ts'
import { completionOf, messagesEvents } from './shared/messages/messages-answers.ts'
import { type WiredChat, answerBy, completedBy, refusePrefix, wireBy } from './shared/wired-chat.ts'
import { batchesOf } from './shared/embed-in-batches.ts'
import { vectorsOf } from './shared/media-answers.ts'
import { byKeyFile, byMetadata } from './vertex/service-account.ts'

const none: ReadonlySet<string> = new Set()
const typed = { 'content-type': 'application/json' }

/** Models of other vendors have a vendor and a slash before their names. */
const isOpen = (model: string): boolean => model.includes('/')

/** Null for models of other routes. */
const modelOf = ({ name }: JsonObject): Model | null => {
  const id = String(name).replace(/^.*\/models\//, '')
  if (/^(text|gemini)-(multilingual-)?embedding/.test(id)) return { id, type: 'EMBEDDING' }
  return /^gemini-/.test(id) ? { id, type: kindOf(id) } : null
}

/** The location `global` has an address without a region. */
const addressOf = (location: string): string =>
  location === 'global' ? 'https://aiplatform.googleapis.com' : `https://${location}-aiplatform.googleapis.com`

/** Vertex AI of Google Cloud: Gemini, Claude by its own dialect, and open models by the format that they share with OpenAI. */
export default plugin({
  port: Upstream,
  name: 'vertex',
  settings: v.strictObject({
    /** The project that pays, by its id. */
    project: v.pipe(v.string(), v.regex(/^[\w.:-]+$/, 'the id of a project')),
    /** The region whose models answer, or `global`. */
    location: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9-]+$/, 'a location such as europe-west4')), 'global'),
    /** The JSON text of a service account's key file; absent, the account of the machine or of the workload signs in. */
    serviceAccount: v.optional(v.string()),
    /** The address of the API, where it is not the location's. */
    baseUrl: v.optional(BaseUrl),
    /** The address that gives tokens to the machine. */
    metadataUrl: v.optional(BaseUrl, 'http://metadata.google.internal'),
    /** Models with what they are for; absent, Gemini and Google's embedding models. Models of other vendors are not listed there. */
    models: v.optional(v.record(v.string(), v.picklist(modelTypes)), {}),
    voice: v.optional(v.pipe(v.string(), v.minLength(1)), 'Kore'),
  }),
  needs: { fetch: Fetch, clock: Clock, random: Random },
  create: ({ fetch, clock, random }, settings, name): Upstream => {
    const { project, location, serviceAccount, metadataUrl, models: chosen, voice } = settings
    const baseUrl = settings.baseUrl ?? addressOf(location)
    const place = `${baseUrl}/v1/projects/${encodeURIComponent(project)}/locations/${location}`
    const request =
      serviceAccount === undefined ? byMetadata(metadataUrl) : byKeyFile(name, serviceAccount, () => clock.now())
    const signed = signedFetch(fetch, signIn({ fetch, clock }, request))

    const ask = async (
      url: string,
      body: JsonObject | null,
      headers: Readonly<Record<string, string>>,
      signal: AbortSignal,
    ) => {
      const method = body === null ? 'GET' : 'POST'
      const ask = {
        method,
        headers: { ...typed, ...headers },
        signal,
        ...(body && { body: await printJson(body) }),
      } as const
      try {
        return await accepted(await signed.upstream(url, ask), clock)
      } catch (fault) {
        throw meant(fault)
      }
    }
    const at = (publisher: string, model: string, act: string) =>
      `${place}/publishers/${publisher}/models/${encodeURIComponent(model)}:${act}`
    const post = (model: string, act: string, body: JsonObject, signal: AbortSignal) =>
      ask(at('google', model, act), body, {}, signal)

    const { push } = signed
    const lineTo =
      push &&
      ((publisher: string) =>
        (model: string, act: string, headers: Record<string, string> = {}) => ({
          ...{ url: at(publisher, model, act), push, headers: { ...typed, ...headers } },
        }))

    const gemini = generateContentBackend({
      ...{ clock, random, voice, post, line: lineTo?.('google'), counted: bare },
    })
    const postClaude: ClaudePost = (model, act, body, headers, signal) =>
      ask(at('anthropic', model, act), body, headers, signal)
    const claude = claudeBackend(clock, postClaude)
    const countClaude = claudeCounter(postClaude)
    const wireOfClaude = lineTo && claudeWire(clock, lineTo('anthropic'), meant)
    const open = chatBackend({ fetch: signed, clock, baseUrl: `${place}/endpoints/openapi`, headers: {} })

    return {
      name,
      ...gemini,
      continues: false,
      unheard: (model, body) => (isClaude(model) ? unsampled(generationOf(model), body) : none),
      dialect(model) {
        if (isClaude(model)) return 'messages'
        return isOpen(model) ? undefined : 'generate-content'
      },

      async models(signal) {
        const listed = Object.entries(chosen).map(([id, type]): Model => ({ id, type }))
        try {
          const found: Model[] = []
          for (let page = ''; ;) {
            const url = `${baseUrl}/v1beta1/publishers/google/models?pageSize=100${page}`
            // Lists belong to no project, so a header names the project that pays.
            const answer = await ask(url, null, { 'x-goog-user-project': project }, signal)
            const { publisherModels, nextPageToken: next } = await readObject(answer)
            if (listed.length > 0) return listed
            if (!Array.isArray(publisherModels)) throw garbled('No list of models')
            found.push(...publisherModels.map(modelOf).filter((model) => model !== null))
            if (typeof next !== 'string' || next === '' || page.endsWith(`=${encodeURIComponent(next)}`)) return found
            page = `&pageToken=${encodeURIComponent(next)}`
          }
        } catch (fault) {
          // An account that may ask some models alone may list none, and the answer shows that Vertex is there.
          if (listed.length > 0 && fault instanceof UpstreamFailed && fault.answered === 403) return listed
          throw fault
        }
      },

      ...(wireOfClaude && {
        wire(call: ChatCall) {
          if (isClaude(call.model)) return wireOfClaude(call)
          return (isOpen(call.model) ? open : gemini).wire?.(call) ?? null
        },
      }),

      chat(call, signal) {
        if (isClaude(call.model)) return claude(call, signal)
        return isOpen(call.model) ? open.chat(call, signal) : gemini.chat(call, signal)
      },

      async countTokens(call, signal) {
        if (isClaude(call.model)) return countClaude(call, signal)
        return isOpen(call.model) ? null : gemini.countTokens(call, signal)
      },

      embed: (call, signal) => {
        const [embeddings, act] = hasOwnAct(call.model) ? [embedded, 'embedContent'] : [predicted, 'predict']
        return embeddings(call, (model, body) => post(model, act, body, signal))
      },
    }
  },
})

type Post = (model: string, body: Readonly<Record<string, unknown>>) => Promise<Answer>

interface Prediction {
  readonly embeddings?: { readonly values?: unknown; readonly statistics?: { readonly token_count?: number } }
}

/** Gemini's models take one text. The others count 20,000 tokens a request, and the guess is low for some languages. */
const boundsOf = (model: string) => ({ texts: /^gemini-/.test(model) ? 1 : 100, tokens: 10_000 })

/** Gemini's vectors since the second generation have an act of their own, which takes one text. */
const hasOwnAct = (model: string): boolean => /^gemini-embedding-[2-9]/.test(model)

/** Vectors of Gemini's newer models. */
const embedded = async ({ model, texts, dimensions }: EmbedCall, post: Post): Promise<Embedded> => {
  const size = dimensions === undefined ? {} : { outputDimensionality: dimensions }
  const answers: JsonObject[] = []
  for (const text of texts)
    answers.push(await readObject(await post(model, { content: { parts: [{ text }] }, ...size })))
  const found = answers.map(({ embedding }) => ({ embedding: (embedding as JsonObject | undefined)?.['values'] }))
  const counts = answers.map(({ usageMetadata }) => (usageMetadata as JsonObject | undefined)?.['promptTokenCount'])
  const input = counts.reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0)
  return { vectors: vectorsOf(found, texts.length), usage: { input, output: 0 } }
}

/** Vectors of Google's other models, by predictions. */
const predicted = async ({ model, texts, dimensions }: EmbedCall, post: Post): Promise<Embedded> => {
  const vectors: Float32Array[] = []
  let input = 0
  for (const some of batchesOf(texts, boundsOf(model))) {
    const instances = some.map((content) => ({ content }))
    const parameters = dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } }
    const { predictions } = await readObject(await post(model, { instances, ...parameters }))
    if (!Array.isArray(predictions)) throw garbled('No vectors in the answer')
    const told = (predictions as readonly Prediction[]).map(({ embeddings }) => embeddings)
    vectors.push(
      ...vectorsOf(
        told.map((prediction) => ({ embedding: prediction?.values })),
        instances.length,
      ),
    )
    input += told.reduce((sum, prediction) => sum + (prediction?.statistics?.token_count ?? 0), 0)
  }
  return { vectors, usage: { input, output: 0 } }
}

/** Sends a body to an act of a Claude model. Resolves with an answer of 2xx alone. */
type ClaudePost = (
  model: string,
  act: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<Answer>

/** The version of Anthropic's format that Vertex takes. */
const version = 'vertex-2023-10-16'

type Headers = Readonly<Record<string, string>>
type Line = Pick<ChatWire, 'url' | 'headers' | 'push'>

/** The betas that a native request names. */
const betasOf = ({ native }: Pick<ChatCall, 'native'>): Headers => {
  const betas = native?.dialect === 'messages' ? native.headers['anthropic-beta'] : undefined
  return betas === undefined ? {} : { 'anthropic-beta': betas }
}

const isClaude = (model: string): boolean => /^claude-/.test(model)

const actOf = ({ stream }: ChatCall): string => (stream ? 'streamRawPredict' : 'rawPredict')

const wired = (call: ChatCall, clock: Clock): WiredChat => {
  const { body, request } = messagesBody(call, generationOf(call.model))
  const { model: _, ...rest } = body
  const isNative = call.native?.dialect === 'messages'
  return {
    body: { anthropic_version: version, ...rest },
    isNative,
    whole: (answer) => completedBy(completionOf(answer, request, clock), answer, isNative ? 'messages' : null),
    events: (status) => messagesEvents(request, clock, status),
  }
}

/** Claude on Vertex: the Messages dialect, with the model in the address and the version in the body. */
const claudeBackend =
  (clock: Clock, post: ClaudePost): NonNullable<Upstream['chat']> =>
  async (call, signal) => {
    refusePrefix(call.prefix)
    const chat = wired(call, clock)
    return answerBy(chat, await post(call.model, actOf(call), chat.body, betasOf(call), signal), call.stream, clock)
  }

/** The same by calls in place of promises. */
const claudeWire =
  (clock: Clock, line: (model: string, act: string, headers: Headers) => Line, meant: ChatWire['meant']) =>
  (call: ChatCall): ChatWire =>
    wireBy(wired(call, clock), line(call.model, actOf(call), betasOf(call)), meant)

/** Tokens of Claude on Vertex. One address counts for all models, and the body names the model. */
const claudeCounter =
  (post: ClaudePost): NonNullable<Upstream['countTokens']> =>
  async (call, signal) => {
    const body = { anthropic_version: version, ...countBody(call, generationOf(call.model)) }
    return countOf(await post('count-tokens', 'rawPredict', body, betasOf(call), signal), call)
  }
