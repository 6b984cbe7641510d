import * as v from 'valibot'
import { BaseUrl } from '../../core/dialects/backend.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { Upstream, type Model } from '../../core/ports/upstream.ts'
import { chatBackend, createdAt } from './shared/chat-backend.ts'
import type { Counts } from './shared/chat-chunks.ts'

const unheard: ReadonlySet<string> = new Set([
  'logit_bias',
  'store',
  'metadata',
  'modalities',
  'audio',
  'prediction',
  'verbosity',
  'prompt_cache_retention',
  'safety_identifier',
])
const unheardByThinkers: ReadonlySet<string> = new Set([...unheard, 'presence_penalty', 'frequency_penalty', 'stop'])
const unheardByFour: ReadonlySet<string> = new Set([...unheardByThinkers, 'reasoning_effort'])

/** Models that think refuse some fields, and the first ones of the fourth generation an effort too. */
const unheardBy = (model: string): ReadonlySet<string> => {
  if (/non-reasoning/.test(model) || !/^grok-(3-mini|4|code)/.test(model)) return unheard
  return /^grok-4(-\d{4}$|-latest$|-fast|-1-fast|$)/.test(model) ? unheardByFour : unheardByThinkers
}

/** Null for models of other routes, such as those that make videos. */
const modelOf = ({ id, created }: JsonObject): Model | null =>
  typeof id === 'string' && !/video/.test(id)
    ? { id, type: /image/.test(id) ? 'IMAGE' : 'CHAT', ...createdAt(created) }
    : null

/** Thoughts are in the total there, and not in what was completed. */
const counts: Counts = (told) => {
  const [prompt, completion, total] = ['prompt_tokens', 'completion_tokens', 'total_tokens'].map((name) => told[name])
  const known = [prompt, completion, total].every((count) => Number.isSafeInteger(count))
  return known && Number(total) > Number(prompt) + Number(completion)
    ? { ...told, completion_tokens: Number(total) - Number(prompt) }
    : told
}

/** The API of xAI. */
export default plugin({
  port: Upstream,
  name: 'xai',
  settings: v.strictObject({
    apiKey: v.pipe(v.string(), v.minLength(1)),
    baseUrl: v.optional(BaseUrl, 'https://api.x.ai/v1'),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl }, name): Upstream => {
    const { models, chat, draw } = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers: { authorization: `Bearer ${apiKey}` },
      unheard: unheardBy,
      counts,
      drawFields: () => ({ response_format: 'b64_json' }),
      modelOf,
    })
    return { name, models, chat, continues: false, unheard: unheardBy, draw }
  },
})
