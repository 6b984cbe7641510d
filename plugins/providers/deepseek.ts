import { plugin } from '../../core/plugin.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import { hostedChat, refusedFields } from './shared/hosted-chat.ts'
import type { Counts } from './shared/chat-chunks.ts'
import { asSystem } from './shared/fit-messages.ts'

const refused = refusedFields(
  'n',
  'seed',
  'logit_bias',
  'user',
  'metadata',
  'prediction',
  'service_tier',
  'parallel_tool_calls',
  'prompt_cache_key',
  'web_search_options',
)

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
  ...hostedChat({
    address: 'https://api.deepseek.com',
    words: () => ({
      unheard: () => refused,
      renames: { max_completion_tokens: 'max_tokens' },
      messages: asSystem,
      counts,
    }),
  }),
})
