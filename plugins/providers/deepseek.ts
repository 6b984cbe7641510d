import * as v from 'valibot'
import { BaseUrl } from '../../core/dialects/backend.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import { chatBackend } from './shared/chat-backend.ts'
import type { Counts } from './shared/chat-chunks.ts'
import { asSystem } from './shared/fit-messages.ts'

const unheard: ReadonlySet<string> = new Set([
  'n',
  'seed',
  'logit_bias',
  'user',
  'store',
  'metadata',
  'modalities',
  'audio',
  'prediction',
  'verbosity',
  'service_tier',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'web_search_options',
])

/** What its cache held has a name of its own there. */
const counts: Counts = ({ prompt_cache_hit_tokens: cached, ...told }) => ({
  ...told,
  ...(cached !== undefined && {
    prompt_cache_hit_tokens: cached,
    prompt_tokens_details: { cached_tokens: cached, ...(told['prompt_tokens_details'] as object | undefined) },
  }),
})

/** The API of DeepSeek. */
export default plugin({
  port: Upstream,
  name: 'deepseek',
  settings: v.strictObject({
    apiKey: v.pipe(v.string(), v.minLength(1)),
    baseUrl: v.optional(BaseUrl, 'https://api.deepseek.com'),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl }, name): Upstream => {
    const { models, chat } = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers: { authorization: `Bearer ${apiKey}` },
      unheard: () => unheard,
      renames: { max_completion_tokens: 'max_tokens' },
      messages: asSystem,
      counts,
    })
    return { name, models, chat, continues: false, unheard: () => unheard }
  },
})
