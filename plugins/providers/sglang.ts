import * as v from 'valibot'
import { BaseUrl } from '../shared/backend.ts'
import { chatBackend } from './shared/chat-backend.ts'
import { decisionBackend, decisionsForm, imagesBeside } from './shared/decision-backend.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { Upstream } from '../../core/ports/upstream.ts'

export default plugin({
  port: Upstream,
  name: 'sglang',
  settings: v.strictObject({
    apiKey: v.optional(v.string()),
    baseUrl: v.optional(BaseUrl, 'http://localhost:30000/v1'),
    /** What the models of this server are for; its list does not say. */
    type: v.optional(v.picklist(['CHAT', 'EMBEDDING', 'DECISION']), 'CHAT'),
    /** By which of its routes the server decides; absent where it does not, or only by log-probabilities. */
    decisions: v.optional(v.picklist(['systemone', 'decisions'])),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl, type, decisions }, name): Upstream => {
    const headers: Readonly<Record<string, string>> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
    const { models, chat, wire, embed, embedTokens } = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers,
      continuation: { continue_final_message: true },
      modelOf: ({ id }) => (typeof id === 'string' ? { id, type } : null),
    })
    const backend = { name, models, chat, ...(wire && { wire }), embed, embedTokens }
    if (decisions === undefined) return backend
    const url = `${baseUrl}/${decisions}`
    const form = decisions === 'systemone' ? imagesBeside : decisionsForm
    const decide = decisionBackend({ fetch, clock, url, headers: () => headers, form })
    return { ...backend, decide }
  },
})
