import * as v from 'valibot'
import { BaseUrl } from '../../core/dialects/backend.ts'
import { chatBackend, createdAt } from './shared/chat-backend.ts'
import { decisionBackend, decisionsForm } from './shared/decision-backend.ts'
import { drawFields, transcriptFormat, typeOf } from './shared/openai-models.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { Upstream, type Model } from '../../core/ports/upstream.ts'
import { modelTypes } from '../../core/settings.ts'

const text = v.pipe(v.string(), v.minLength(1))

/** OpenAI, and servers that speak its format. Only OpenAI's own address counts as the vendor. */
export default plugin({
  port: Upstream,
  name: 'openai',
  settings: v.strictObject({
    /** A compatible server of one's own may need none. */
    apiKey: v.optional(text),
    baseUrl: v.optional(BaseUrl, 'https://api.openai.com/v1'),
    organization: v.optional(text),
    project: v.optional(text),
    /** More headers for a server that asks for them. */
    headers: v.optional(v.record(v.string(), v.string()), {}),
    /** Names and types of models whose names do not reveal the type; on Azure the deployments. */
    types: v.optional(v.record(v.string(), v.picklist(modelTypes)), {}),
    /** Deployments on Azure: `baseUrl` is that of the resource. */
    azure: v.optional(v.strictObject({ apiVersion: text })),
    voice: v.optional(text, 'alloy'),
    /** Fields that make this server go on from a trailing assistant message. */
    continuation: v.optional(v.nullable(v.record(v.string(), v.unknown())), null),
    /** False for a server that ends its streams without `[DONE]`. */
    marksEnd: v.optional(v.boolean(), true),
    /** True where the models of this name decide by themselves, and do nothing else. */
    decisions: v.optional(v.boolean(), false),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, settings, name): Upstream => {
    const { apiKey, baseUrl, organization, project, types, azure, voice, continuation, marksEnd, decisions } = settings
    const headers = {
      ...(apiKey !== undefined && (azure ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` })),
      ...(organization !== undefined && { 'openai-organization': organization }),
      ...(project !== undefined && { 'openai-project': project }),
      ...settings.headers,
    }

    const inAzure = (path: string, model: string | null): string => {
      const place = model === null ? '' : `/deployments/${encodeURIComponent(model)}`
      return `${baseUrl}/openai${place}${path}?api-version=${encodeURIComponent(azure!.apiVersion)}`
    }

    const backend = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers,
      ...(azure && { url: inAzure }),
      marksEnd,
      continuation,
      transcriptFormat,
      voice,
      drawFields,
      modelOf: ({ id, created }) =>
        typeof id === 'string'
          ? { id, type: types[id] ?? (decisions ? 'DECISION' : typeOf(id)), ...createdAt(created) }
          : null,
    })

    const deployments = Object.entries(types).map(([id, type]): Model => ({ id, type }))
    if (decisions) {
      if (azure) throw new Error('There are no decisions on Azure')
      const url = `${baseUrl}/decisions`
      const decide = decisionBackend({ fetch, clock, url, headers: () => headers, form: decisionsForm })
      return { name, models: backend.models, decide }
    }
    return {
      name,
      ...(baseUrl === 'https://api.openai.com/v1' && { vendor: 'openai' }),
      ...backend,
      async models(signal) {
        const listed = await backend.models(signal)
        // Azure lists deployable models, not the deployed ones.
        return azure && deployments.length > 0 ? deployments : listed
      },
    }
  },
})
