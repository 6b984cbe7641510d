import * as v from 'valibot'
import { BaseUrl } from '../shared/backend.ts'
import { chatBackend } from './shared/chat-backend.ts'
import { RequestChange } from './shared/request-change.ts'
import { ApiSetting, roadsOf } from './shared/responses/roads.ts'
import { rerankBackend } from './shared/rerank-backend.ts'
import type { MoreAbilities } from '../shared/more-abilities.ts'
import { decisionBackend, imagesInState } from './shared/decision-backend.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch, Log } from '../../core/ports/platform.ts'
import { Upstream, type Model } from '../../core/ports/upstream.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'

/** Null for models that give neither text nor vectors. */
const modelOf = ({ id, description, architecture }: JsonObject): Model | null => {
  if (typeof id !== 'string') return null
  const { input_modalities, output_modalities } = (architecture ?? {}) as JsonObject
  const gives = Array.isArray(output_modalities) ? output_modalities : ['text']
  if (!gives.includes('text') && !gives.includes('embeddings')) return null
  return {
    id,
    type: gives.includes('embeddings') ? 'EMBEDDING' : 'CHAT',
    ...(typeof description === 'string' && { description }),
    ...(Array.isArray(input_modalities) && { modalities: input_modalities.map(String) }),
  }
}

/** Null for models that give no decisions. */
const deciderOf = ({ id, description, architecture }: JsonObject): Model | null => {
  const { output_modalities } = (architecture ?? {}) as JsonObject
  if (typeof id !== 'string' || !Array.isArray(output_modalities) || !output_modalities.includes('decisions'))
    return null
  return { id, type: 'DECISION', ...(typeof description === 'string' && { description }) }
}

export default plugin({
  port: Upstream,
  name: 'openrouter',
  settings: v.strictObject({
    apiKey: v.string(),
    baseUrl: v.optional(BaseUrl, 'https://openrouter.ai/api/v1'),
    /** The address by which the application is known in their rankings. */
    referer: v.optional(v.string()),
    title: v.optional(v.string()),
    /** Which of their providers may serve, in their own terms; sent as `provider`. */
    routing: v.optional(v.record(v.string(), v.unknown())),
    /** Which interface models are asked by; chat completions unless a model's refusal names the other. */
    api: v.optional(ApiSetting, 'auto'),
    /** What is changed in the body of each chat. */
    request: v.optional(RequestChange),
    /** True where the models of this name decide by themselves, and do nothing else. */
    decisions: v.optional(v.boolean(), false),
  }),
  needs: { fetch: Fetch, clock: Clock, log: Log },
  create: (
    { fetch, clock, log },
    { apiKey, baseUrl, referer, title, routing, api, request, decisions },
    name,
  ): Upstream => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(referer !== undefined && { 'http-referer': referer }),
      ...(title !== undefined && { 'x-openrouter-title': title }),
    }
    const { models, chat, dialect, unheard, wire, embed, embedTokens } = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers,
      request,
      // The router has function tools of every model at chat completions.
      roads: roadsOf({ clock, log }, name, api, () => ''),
      // A trailing assistant message is gone on from without being asked.
      continuation: {},
      modelOf: decisions ? deciderOf : modelOf,
      ...(routing && { chatFields: () => ({ provider: routing }) }),
    })
    const spoken = { ...(dialect && { dialect }), ...(unheard && { unheard }), ...(wire && { wire }) }
    const rerank = rerankBackend({ fetch, clock, url: `${baseUrl}/rerank`, headers })
    const more: MoreAbilities = { rerank }
    if (!decisions) return { name, models, chat, ...spoken, embed, embedTokens, ...more }
    const url = `${baseUrl}/systemone`
    const form = imagesInState(routing && { provider: routing })
    return { name, models, decide: decisionBackend({ fetch, clock, url, headers: () => headers, form }) }
  },
})
