import * as v from 'valibot'
import { accepted, BaseUrl, garbled, readObject } from '../shared/backend.ts'
import { decisionBackend, imagesByName } from './shared/decision-backend.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { Upstream, type Model } from '../../core/ports/upstream.ts'

export default plugin({
  port: Upstream,
  name: 'typesafe',
  settings: v.strictObject({
    apiKey: v.pipe(v.string(), v.minLength(1)),
    baseUrl: v.optional(BaseUrl, 'https://api.typesafe.ai'),
    /** More headers, for what they serve only when asked so. */
    headers: v.optional(v.record(v.string(), v.string()), {}),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl, headers: more }, name): Upstream => {
    const headers = { ...more, authorization: `Bearer ${apiKey}`, accept: 'application/json' }
    return {
      name,

      async models(signal) {
        const answer = await fetch.upstream(`${baseUrl}/v1/models`, { method: 'GET', headers, signal })
        const { models } = await readObject(await accepted(answer, clock))
        if (!Array.isArray(models)) throw garbled('No list of models')
        return models.map((entry): Model => {
          const { name: id, description } = (entry ?? {}) as Readonly<Record<string, unknown>>
          if (typeof id !== 'string') throw garbled('A model without a name')
          return { id, type: 'DECISION', ...(typeof description === 'string' && { description }) }
        })
      },

      decide: decisionBackend({
        fetch,
        clock,
        url: `${baseUrl}/v1/systemone`,
        headers: ({ images }) => (images.length > 0 ? { ...headers, 'typesafe-danger-zone-images': 'true' } : headers),
        form: imagesByName,
      }),
    }
  },
})
