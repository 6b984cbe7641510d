import { accepted, garbled, readObject } from '../shared/backend.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Upstream, type Model } from '../../core/ports/upstream.ts'
import { rerankBackend } from './shared/rerank-backend.ts'
import { embedInBatches } from './shared/embed-in-batches.ts'
import { type Account, hostedChat, refusedFields } from './shared/hosted-chat.ts'

/** Usage comes without being asked for, so `stream_options` has no place either. */
const refused = refusedFields(
  'stream_options',
  'n',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'user',
  'metadata',
  'prediction',
  'service_tier',
  'parallel_tool_calls',
  'prompt_cache_key',
  'web_search_options',
)

/** Null for models of other routes, such as rerankers. */
const modelOf = ({ name, endpoints, features }: JsonObject): Model | null => {
  if (typeof name !== 'string' || !Array.isArray(endpoints)) return null
  if (endpoints.includes('embed')) return { id: name, type: 'EMBEDDING' }
  if (!endpoints.includes('chat')) return null
  const sees = Array.isArray(features) && features.includes('vision')
  return { id: name, type: 'CHAT', ...(sees && { modalities: ['text', 'image'] }) }
}

/** The list of models is no part of the shared surface. A repeated mark of a page ends the reading. */
const listed = async ({ fetch, clock, baseUrl, headers }: Account, signal: AbortSignal): Promise<readonly Model[]> => {
  const found: Model[] = []
  for (let page = ''; ;) {
    const url = `${baseUrl}/v1/models?page_size=1000${page}`
    const answer = await fetch.upstream(url, { method: 'GET', headers, signal })
    const { models, next_page_token: next } = await readObject(await accepted(answer, clock))
    if (!Array.isArray(models)) throw garbled('No list of models')
    found.push(...models.map(modelOf).filter((model) => model !== null))
    if (typeof next !== 'string' || next === '' || page.endsWith(`=${encodeURIComponent(next)}`)) return found
    page = `&page_token=${encodeURIComponent(next)}`
  }
}

/** Cohere, by the surface that it shares with OpenAI. */
export default plugin({
  port: Upstream,
  name: 'cohere',
  ...hostedChat({
    address: 'https://api.cohere.ai',
    words: ({ baseUrl }) => ({
      baseUrl: `${baseUrl}/compatibility/v1`,
      unheard: () => refused,
      renames: { max_completion_tokens: 'max_tokens' },
      // Thinking is on or off.
      chatFields: ({ body: { reasoning_effort: effort } }) =>
        typeof effort === 'string' ? { reasoning_effort: effort === 'none' ? 'none' : 'high' } : {},
    }),
    offers: ({ embed }, account) => ({
      embed: embedInBatches(embed, { texts: 96 }),
      rerank: rerankBackend({ ...account, url: `${account.baseUrl}/v2/rerank` }),
      models: (signal) => listed(account, signal),
    }),
  }),
})
