import * as v from 'valibot'
import { BaseUrl, garbled, readObject, readKept } from '../shared/backend.ts'
import { batchRelay, usedOfOpenai } from './shared/batch-relay.ts'
import { chatBackend, createdAt } from './shared/chat-backend.ts'
import { decisionBackend, decisionsForm } from './shared/decision-backend.ts'
import { drawFields, transcriptFormat, typeOf } from './shared/openai-models.ts'
import { RequestChange } from './shared/request-change.ts'
import type { MoreAbilities } from '../shared/more-abilities.ts'
import { type JsonRoute, postedJson } from './shared/posted-json.ts'
import { tokensIn } from './shared/tokens-in.ts'
import { responsesBody } from './shared/responses/responses-request.ts'
import { ApiSetting, roadsOf } from './shared/responses/roads.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch, Log } from '../../core/ports/platform.ts'
import { Upstream, type Model, type CountCall, type TokenCount } from '../../core/ports/upstream.ts'
import { modelTypes } from '../../core/settings.ts'

const text = v.pipe(v.string(), v.minLength(1))
const vendorsOwn = 'https://api.openai.com/v1'

/** OpenAI, and servers that speak its format. Only OpenAI's own address counts as the vendor. */
export default plugin({
  port: Upstream,
  name: 'openai',
  settings: v.strictObject({
    /** A compatible server of one's own may need none. */
    apiKey: v.optional(text),
    baseUrl: v.optional(BaseUrl, vendorsOwn),
    organization: v.optional(text),
    project: v.optional(text),
    /** More headers for a server that asks for them. */
    headers: v.optional(v.record(v.string(), v.string()), {}),
    /** Names and types of models whose names do not reveal the type; on Azure the deployments. */
    types: v.optional(v.record(v.string(), v.picklist(modelTypes)), {}),
    /** Deployments on Azure: `baseUrl` is that of the resource. */
    azure: v.optional(v.strictObject({ apiVersion: text })),
    voice: v.optional(text, 'alloy'),
    /** Fields that make this server go on from a trailing assistant message. */
    continuation: v.optional(v.nullable(v.record(v.string(), v.unknown())), null),
    /** False for a server that ends its streams without `[DONE]`. */
    marksEnd: v.optional(v.boolean(), true),
    /** Which interface models are asked by: Responses, chat completions, or what the model needs. */
    api: v.optional(ApiSetting, 'auto'),
    /** What is changed in the body of each chat, for a server that differs from the format. */
    request: v.optional(RequestChange),
    /** True where the models of this name decide by themselves, and do nothing else. */
    decisions: v.optional(v.boolean(), false),
    /** Whether the server has files and batches; absent, OpenAI itself has them. */
    batches: v.optional(v.boolean()),
  }),
  needs: { fetch: Fetch, clock: Clock, log: Log },
  create: ({ fetch, clock, log }, settings, name): Upstream => {
    const { apiKey, baseUrl, organization, project, types, azure, voice, continuation, marksEnd, decisions } = settings
    const headers = {
      ...(apiKey !== undefined && (azure ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` })),
      ...(organization !== undefined && { 'openai-organization': organization }),
      ...(project !== undefined && { 'openai-project': project }),
      ...settings.headers,
    }

    const inAzure = (path: string, model: string | null): string => {
      const place = model === null ? '' : `/deployments/${encodeURIComponent(model)}`
      return `${baseUrl}/openai${place}${path}?api-version=${encodeURIComponent(azure!.apiVersion)}`
    }

    const roads = roadsOf({ clock, log }, name, azure ? 'chat' : settings.api)
    const counter = { fetch, clock, url: `${baseUrl}/responses/input_tokens`, headers }
    const backend = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers,
      ...(azure && { url: inAzure }),
      request: settings.request,
      roads,
      countsTries: !azure && baseUrl !== vendorsOwn,
      marksEnd,
      continuation,
      transcriptFormat,
      voice,
      drawFields,
      modelOf: ({ id, created }) =>
        typeof id === 'string'
          ? { id, type: types[id] ?? (decisions ? 'DECISION' : typeOf(id)), ...createdAt(created) }
          : null,
    })

    const deployments = Object.entries(types).map(([id, type]): Model => ({ id, type }))
    if (decisions) {
      if (azure) throw new Error('There are no decisions on Azure')
      const url = `${baseUrl}/decisions`
      const decide = decisionBackend({ fetch, clock, url, headers: () => headers, form: decisionsForm })
      return { name, models: backend.models, decide }
    }
    const hasBatches = settings.batches ?? (baseUrl === vendorsOwn && !azure)
    const routes = { fetch, clock, baseUrl, headers: () => headers, dialect: 'openai', used: usedOfOpenai }
    return {
      name,
      ...(hasBatches && { batches: batchRelay(routes) }),
      ...(baseUrl === vendorsOwn && { vendor: 'openai' }),
      ...backend,
      ...(!azure && { moderate: moderationBackend({ ...counter, url: `${baseUrl}/moderations` }) }),
      countTokens: async (call, signal) =>
        roads.usual(call.model) === 'responses' ? countInput(counter, call, signal) : null,
      async models(signal) {
        const listed = await backend.models(signal)
        // Azure lists deployable models, not the deployed ones.
        return azure && deployments.length > 0 ? deployments : listed
      },
    }
  },
})

/** The route by which OpenAI judges contents. */
const moderationBackend =
  (route: JsonRoute): NonNullable<MoreAbilities['moderate']> =>
  async ({ model, input }, signal) => {
    const answer = await postedJson(route, { model, input }, signal)
    const body = await readObject(answer)
    if (!Array.isArray(body['results'])) throw garbled('The answer judges nothing', answer.status)
    return { body }
  }

/** Members that the route counts; it refuses others. */
const counted: ReadonlySet<string> = new Set(['model', 'input', 'instructions', 'parallel_tool_calls', 'reasoning', 'text', 'tool_choice', 'tools', 'truncation']) // prettier-ignore

/** The count of a prompt by the server of Responses that would answer it. */
const countInput = async (route: JsonRoute, call: CountCall, signal: AbortSignal): Promise<TokenCount> => {
  const whole = responsesBody({ ...call, stream: false })
  const fields = Object.fromEntries(Object.entries(whole).filter(([name]) => counted.has(name)))
  const answer = await postedJson(route, fields, signal)
  const told = await readKept(answer)
  const tokens = tokensIn(told, 'input_tokens', answer)
  return call.native?.dialect === 'responses'
    ? { tokens, native: { dialect: 'responses', body: told, headers: {} } }
    : { tokens }
}
