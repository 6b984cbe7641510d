import * as v from 'valibot'
import { BaseUrl } from '../../core/dialects/backend.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { Upstream, type Model } from '../../core/ports/upstream.ts'
import { chatBackend, createdAt } from './shared/chat-backend.ts'
import { asSystem } from './shared/fit-messages.ts'

const unheard: ReadonlySet<string> = new Set([
  'store',
  'modalities',
  'audio',
  'verbosity',
  'prompt_cache_retention',
  'safety_identifier',
  'web_search_options',
])

/** Null for models of other routes, such as those that draw. */
const modelOf = ({ id, created, supports_chat, supports_image_input }: JsonObject): Model | null => {
  if (typeof id !== 'string') return null
  if (supports_chat === true) {
    return {
      id,
      type: 'CHAT',
      ...createdAt(created),
      modalities: supports_image_input === true ? ['text', 'image'] : ['text'],
    }
  }
  return /embed/.test(id) ? { id, type: 'EMBEDDING', ...createdAt(created) } : null
}

/** The API of Fireworks AI. */
export default plugin({
  port: Upstream,
  name: 'fireworks',
  settings: v.strictObject({
    apiKey: v.pipe(v.string(), v.minLength(1)),
    baseUrl: v.optional(BaseUrl, 'https://api.fireworks.ai/inference/v1'),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl }, name): Upstream => {
    const { models, chat, embed } = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers: { authorization: `Bearer ${apiKey}` },
      unheard: () => unheard,
      messages: asSystem,
      modelOf,
    })
    return { name, models, chat, continues: false, unheard: () => unheard, embed }
  },
})
