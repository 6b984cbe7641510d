import * as v from 'valibot'
import { BaseUrl } from '../../core/dialects/backend.ts'
import { chatBackend } from './shared/chat-backend.ts'
import { decisionBackend, imagesInState } from './shared/decision-backend.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
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
    /** True where the models of this name decide by themselves, and do nothing else. */
    decisions: v.optional(v.boolean(), false),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl, referer, title, routing, decisions }, name): Upstream => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(referer !== undefined && { 'http-referer': referer }),
      ...(title !== undefined && { 'x-openrouter-title': title }),
    }
    const { models, chat, embed, embedTokens } = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers,
      // A trailing assistant message is gone on from without being asked.
      continuation: {},
      modelOf: decisions ? deciderOf : modelOf,
      ...(routing && { chatFields: () => ({ provider: routing }) }),
    })
    if (!decisions) return { name, models, chat, embed, embedTokens }
    const url = `${baseUrl}/systemone`
    const form = imagesInState(routing && { provider: routing })
    return { name, models, decide: decisionBackend({ fetch, clock, url, headers: () => headers, form }) }
  },
})
