import * as v from 'valibot'
import { accepted, BaseUrl, readObject, parseObject } from '../shared/backend.ts'
import { fieldsBeyondMessages } from '../shared/dialects/messages/unsupported-fields.ts'
import { printJson } from '../shared/print-json.ts'
import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch, Random, type Answer } from '../../core/ports/platform.ts'
import {
  Upstream,
  type ChatBody,
  type ChatCall,
  type Model,
  type CountCall,
  type TokenCount,
  type EmbedCall,
  type Embedded,
  type Chunk,
  type WireEvents,
} from '../../core/ports/upstream.ts'
import { modelTypes } from '../../core/settings.ts'
import { tokensIn } from './shared/tokens-in.ts'
import { completionOf, converseEvents, eventOf } from './bedrock/converse-answers.ts'
import { converseBody } from './bedrock/converse.ts'
import { mustBeFrames, unpackedFrames } from './bedrock/event-frames.ts'
import { batchesOf } from './shared/embed-in-batches.ts'
import { vectorsOf } from './shared/media-answers.ts'
import { modelsIn, profilesIn } from './bedrock/model-lists.ts'
import { signedDoor } from './bedrock/signed-door.ts'
import { oneSignIn } from './shared/one-sign-in.ts'
import { generationOf } from './shared/messages/generations.ts'
import { unsampled, type Asked, messagesBody } from './shared/messages/messages.ts'
import { completionOf as claudeCompletionOf, eventReader } from './shared/messages/messages-answers.ts'
import { type WiredChat, answerBy, completedBy, refusePrefix, wireBy } from './shared/wired-chat.ts'

const text = v.pipe(v.string(), v.minLength(1))
const isClaude = (model: string): boolean => /\bclaude-/.test(model)
/** Members for the tier and the user, for which Converse has no place. */
const unheardByConverse: ReadonlySet<string> = new Set([
  ...fieldsBeyondMessages,
  'parallel_tool_calls',
  'service_tier',
  'user',
  'metadata',
])

/** Without a schema Converse has no place for the form of an answer, too. */
const unheardInForm: ReadonlySet<string> = new Set([...unheardByConverse, 'response_format'])
const hasSchema = (body?: ChatBody): boolean =>
  (body?.['response_format'] as JsonObject | null | undefined)?.['type'] === 'json_schema'

/** Models of Amazon Bedrock: Claude by its own dialect, the others by Converse. */
export default plugin({
  port: Upstream,
  name: 'bedrock',
  settings: v.pipe(
    v.strictObject({
      /** The region whose models answer, such as `us-east-1`. */
      region: v.pipe(v.string(), v.regex(/^[a-z0-9-]+$/, 'a region such as eu-central-1')),
      /** An API key of Bedrock; either it or the pair of access keys is needed. */
      apiKey: v.optional(text),
      accessKeyId: v.optional(text),
      secretAccessKey: v.optional(text),
      sessionToken: v.optional(v.string(), ''),
      /** The address of the runtime, where it is not the region's, such as that of a VPC endpoint. */
      baseUrl: v.optional(BaseUrl),
      /** The address that lists models, where it is not the region's. */
      listUrl: v.optional(BaseUrl),
      /** Models, profiles and ARNs with what they are for, where not all that the account lists. */
      models: v.optional(v.record(v.string(), v.picklist(modelTypes)), {}),
    }),
    oneSignIn(({ apiKey, accessKeyId, secretAccessKey }) => {
      const given = [accessKeyId, secretAccessKey].filter((key) => key !== undefined).length
      return given === (apiKey === undefined ? 2 : 0)
    }, 'either apiKey or accessKeyId with secretAccessKey'),
  ),
  needs: { fetch: Fetch, clock: Clock, random: Random },
  create: ({ fetch, clock, random }, settings, name): Upstream => {
    const { region, apiKey, accessKeyId, secretAccessKey, sessionToken, models } = settings
    const baseUrl = settings.baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com`
    const listUrl = settings.listUrl ?? `https://bedrock.${region}.amazonaws.com`
    const keys =
      accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey, sessionToken } : null
    const door = keys ? signedDoor(fetch, clock, region, keys) : fetch
    const headers = {
      'content-type': 'application/json',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    }

    const list = async (path: string, signal: AbortSignal): Promise<JsonObject> =>
      readObject(await accepted(await door.upstream(`${listUrl}${path}`, { method: 'GET', headers, signal }), clock))
    const at = (model: string, act: string) => `${baseUrl}/model/${encodeURIComponent(model)}/${act}`
    const invoke = async (model: string, act: string, body: object, signal: AbortSignal): Promise<Answer> => {
      const answer = await door.upstream(at(model, act), {
        method: 'POST',
        headers,
        body: await printJson(body),
        signal,
      })
      try {
        return await accepted(answer, clock)
      } catch (fault) {
        throw meant(fault)
      }
    }

    const byClaude = (call: ChatCall): WiredChat => {
      const { body, request } = claudeBody(call)
      const isNative = call.native?.dialect === 'messages'
      return {
        body,
        isNative,
        whole: (answer) =>
          completedBy(claudeCompletionOf(answer, request, clock), answer, isNative ? 'messages' : null),
        events: (status) => claudeEvents(request, clock, status),
        streams: mustBeFrames,
      }
    }
    const byConverse = (call: ChatCall): WiredChat => {
      const reading = { model: call.model, clock, random }
      return {
        body: converseBody(call),
        isNative: false,
        whole: (answer) => completedBy(completionOf(answer, reading), answer, null),
        events: (status) => converseEvents(reading, status),
        streams: mustBeFrames,
      }
    }
    const wired = (call: ChatCall) => (isClaude(call.model) ? byClaude : byConverse)(call)
    const { push } = door

    return {
      name,
      dialect: (model) => (isClaude(model) ? 'messages' : undefined),
      continues: false,
      unheard: (model, body) =>
        isClaude(model) ? unsampled(generationOf(model), body) : hasSchema(body) ? unheardByConverse : unheardInForm,

      async models(signal) {
        const chosen = Object.entries(models).map(([id, type]): Model => ({ id, type }))
        try {
          const summaries = modelsIn(await list('/foundation-models', signal))
          if (chosen.length > 0) return chosen
          const found = [...summaries.models]
          for (let page: string | null = ''; page !== null;) {
            const answer = await list(`/inference-profiles?maxResults=1000${page}`, signal)
            found.push(...profilesIn(answer, summaries.chats))
            const next: unknown = answer['nextToken']
            const further = typeof next === 'string' && next !== '' ? `&nextToken=${encodeURIComponent(next)}` : null
            page = further === page ? null : further
          }
          return found
        } catch (fault) {
          // Credentials for some models alone may list none, and the answer shows that Bedrock is there.
          if (chosen.length > 0 && fault instanceof UpstreamFailed && fault.answered === 403) return chosen
          throw fault
        }
      },

      async chat(call, signal) {
        refusePrefix(call.prefix)
        const chat = wired(call)
        return answerBy(chat, await invoke(call.model, actOf(call), chat.body, signal), call.stream, clock)
      },

      ...(push && {
        wire: (call: ChatCall) => wireBy(wired(call), { url: at(call.model, actOf(call)), headers, push }, meant),
      }),

      async countTokens(call, signal) {
        const input = isClaude(call.model) ? await claudeInput(call) : converseInput(call)
        const answer = await invoke(call.model, 'count-tokens', { input }, signal).catch(uncounted)
        return answer && countOf(answer)
      },

      embed: (call, signal) => embeddingsOf(call, (model, body) => invoke(model, 'invoke', body, signal)),
    }
  },
})

const actOf = ({ model, stream }: ChatCall): string => {
  if (isClaude(model)) return stream ? 'invoke-with-response-stream' : 'invoke'
  return stream ? 'converse-stream' : 'converse'
}

/** Bedrock refuses to count for some models in the words that it has for malformed requests. */
const uncounted = (fault: unknown): null => {
  if (fault instanceof BadRequest) return null
  throw fault
}

/** A model that failed or is still loading may answer later. */
const meant = (fault: unknown): unknown =>
  fault instanceof UpstreamFailed && fault.answered === 424
    ? new UpstreamFailed(undefined, { again: true, answered: 424, cause: fault.cause })
    : fault

/** Members of a Converse request that decide its tokens. */
const counted: ReadonlySet<string> = new Set(['messages', 'system', 'toolConfig', 'additionalModelRequestFields'])

/** The prompt of Claude, in its own dialect. Claude takes no request without a limit, which changes no count. */
const claudeInput = async (call: CountCall): Promise<JsonObject> => {
  const limit = { max_tokens: generationOf(call.model).maxTokens }
  const body = await printJson({ ...limit, ...claudeBody({ ...call, stream: false }).body })
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body)
  return { invokeModel: { body: bytes.toString('base64') } }
}

/** The prompt of a model that converses. */
const converseInput = (call: CountCall): JsonObject => {
  const body = converseBody(call)
  return { converse: Object.fromEntries(Object.entries(body).filter(([name]) => counted.has(name))) }
}

/** The count that Bedrock tells. */
const countOf = async (answer: Answer): Promise<TokenCount> => ({
  tokens: tokensIn(await readObject(answer), 'inputTokens', answer),
})

/** Sends a body to a model. */
type Invoke = (model: string, body: object) => Promise<Answer>

/** What a model of Cohere takes in one request. */
const bounds = { texts: 96 }

/** Vectors of the models by Amazon and Cohere; each vendor has a form of its own. Throws BadRequest for another model. */
const embeddingsOf = async ({ model, texts, dimensions, extra }: EmbedCall, invoke: Invoke): Promise<Embedded> => {
  if (/titan-embed/.test(model)) {
    const body = (inputText: string) => ({ ...extra, inputText, ...(dimensions !== undefined && { dimensions }) })
    const answers: Record<string, unknown>[] = []
    for (const text of texts) answers.push(await readObject(await invoke(model, body(text))))
    const input = answers.reduce((sum, { inputTextTokenCount: count }) => sum + Number(count ?? 0), 0)
    return { vectors: vectorsOf(answers, texts.length), usage: { input, output: 0 } }
  }
  if (!/cohere\.embed/.test(model)) throw new BadRequest('The model gives no vectors')
  const vectors: Float32Array[] = []
  let input = 0
  for (const some of batchesOf(texts, bounds)) {
    const wanted = dimensions === undefined ? {} : { output_dimension: dimensions, embedding_types: ['float'] }
    const answer = await invoke(model, { input_type: 'search_document', ...extra, texts: some, ...wanted })
    const { embeddings } = await readObject(answer)
    const rows = Array.isArray(embeddings) ? embeddings : (embeddings as { float?: unknown } | null)?.float
    const told = Array.isArray(rows) ? rows.map((embedding: unknown) => ({ embedding })) : null
    vectors.push(...vectorsOf(told, some.length))
    input += Number(answer.header('x-amzn-bedrock-input-token-count') ?? 0)
  }
  return { vectors, usage: { input, output: 0 } }
}

/** The request of the Messages dialect as Bedrock takes it: model and stream stand in the address, betas in the body. */
const claudeBody = (call: ChatCall): { readonly body: JsonObject; readonly request: Asked } => {
  const { body, request } = messagesBody(call, generationOf(call.model))
  const { model: _, stream: __, ...rest } = body
  const betas = call.native?.headers['anthropic-beta']?.split(',').map((beta) => beta.trim())
  return {
    body: { anthropic_version: 'bedrock-2023-05-31', ...(betas && { anthropic_beta: betas }), ...rest },
    request,
  }
}

/** The reader of a stream whose frames carry events of the Messages dialect. */
const claudeEvents = (request: Asked, clock: Clock, status: number): WireEvents => {
  const read = eventReader(request, clock, status)
  return unpackedFrames<Chunk>(status, (frame, into) => {
    const { kind, event } = eventOf(frame)
    if (kind !== 'chunk') return false
    const data = Buffer.from(String(event['bytes']), 'base64').toString('utf8')
    // Clients of the dialect tell events by their names, which are the types.
    const type = parseObject(data)?.['type']
    return read({ event: typeof type === 'string' ? type : null, data }, into)
  })
}
