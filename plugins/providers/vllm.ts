import * as v from 'valibot'
import { BaseUrl } from '../../core/dialects/backend.ts'
import { chatBackend } from '../../core/dialects/chat-backend.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/host.ts'
import { Upstream } from '../../core/ports/upstream.ts'

export default plugin({
  port: Upstream,
  name: 'vllm',
  settings: v.strictObject({
    apiKey: v.optional(v.string()),
    baseUrl: v.optional(BaseUrl, 'http://localhost:8000/v1'),
    /** What the models of this server are for; its list does not say. */
    type: v.optional(v.picklist(['CHAT', 'EMBEDDING', 'AUDIO_TRANSCRIPTION']), 'CHAT'),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl, type }, name): Upstream => {
    const { models, chat, embed, transcribe } = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      continuation: { continue_final_message: true, add_generation_prompt: false },
      modelOf: ({ id }) => (typeof id === 'string' ? { id, type } : null),
    })
    return { name, models, chat, embed, transcribe }
  },
})
