import * as v from 'valibot'
import { BaseUrl } from '../../core/dialects/backend.ts'
import { chatBackend } from '../../core/dialects/chat-backend.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/host.ts'
import { Upstream, type Model } from '../../core/ports/upstream.ts'

type Fields = Readonly<Record<string, unknown>>

const modelOf = ({ id, description, architecture }: Fields): Model | null => {
  if (typeof id !== 'string') return null
  const { input_modalities, output_modalities } = (architecture ?? {}) as Fields
  const gives = Array.isArray(output_modalities) ? output_modalities : ['text']
  if (!gives.includes('text') && !gives.includes('embeddings')) return null
  return {
    id,
    type: gives.includes('embeddings') ? 'EMBEDDING' : 'CHAT',
    ...(typeof description === 'string' && { description }),
    ...(Array.isArray(input_modalities) && { modalities: input_modalities.map(String) }),
  }
}

export default plugin({
  port: Upstream,
  name: 'openrouter',
  settings: v.strictObject({
    apiKey: v.string(),
    baseUrl: v.optional(BaseUrl, 'https://openrouter.ai/api/v1'),
    /** How the application is named in their rankings. */
    referer: v.optional(v.string()),
    title: v.optional(v.string()),
    /** Which of their providers may serve, in their own terms; sent as `provider`. */
    routing: v.optional(v.record(v.string(), v.unknown())),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl, referer, title, routing }, name): Upstream => {
    const { models, chat, embed } = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(referer !== undefined && { 'http-referer': referer }),
        ...(title !== undefined && { 'x-openrouter-title': title }),
      },
      // A trailing assistant message is gone on from without being asked.
      continuation: {},
      modelOf,
      ...(routing && { chatFields: () => ({ provider: routing }) }),
    })
    return { name, models, chat, embed }
  },
})
