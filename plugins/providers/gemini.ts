import * as v from 'valibot'
import { accepted, BaseUrl, garbled, readObject } from '../shared/backend.ts'
import { printJson } from '../shared/print-json.ts'
import { wrapped } from './shared/generate-content/count-content.ts'
import { generateContentBackend, kindOf, meant, type Post } from './shared/generate-content/generate-content-backend.ts'
import { batchesOf } from './shared/embed-in-batches.ts'
import { vectorsOf } from './shared/media-answers.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch, Random } from '../../core/ports/platform.ts'
import { Upstream, type Model } from '../../core/ports/upstream.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'

const text = v.pipe(v.string(), v.minLength(1))

/** Texts of one request for vectors. */
const mostTexts = 100

/** Null for a model that other routes serve. */
const modelOf = ({ name, displayName, description, supportedGenerationMethods: methods }: JsonObject): Model | null => {
  const id = String(name).replace(/^models\//, '')
  const about = {
    ...(typeof (description ?? displayName) === 'string' && { description: String(description ?? displayName) }),
  }
  if (!Array.isArray(methods)) return null
  if (methods.includes('embedContent')) return { id, type: 'EMBEDDING', ...about }
  if (!methods.includes('generateContent')) return null
  return { id, type: kindOf(id), ...about }
}

/** The Gemini API by an API key; Gemini on Google Cloud is the plugin `vertex`. */
export default plugin({
  port: Upstream,
  name: 'gemini',
  settings: v.strictObject({
    apiKey: text,
    baseUrl: v.optional(BaseUrl, 'https://generativelanguage.googleapis.com/v1beta'),
    voice: v.optional(text, 'Kore'),
  }),
  needs: { fetch: Fetch, clock: Clock, random: Random },
  create: ({ fetch, clock, random }, { apiKey, baseUrl, voice }, name): Upstream => {
    const headers = { 'x-goog-api-key': apiKey, 'content-type': 'application/json' }

    const ask = async (path: string, body: JsonObject | null, signal: AbortSignal) => {
      const method = body === null ? 'GET' : 'POST'
      const ask = { method, headers, signal, ...(body && { body: await printJson(body) }) } as const
      try {
        return await accepted(await fetch.upstream(baseUrl + path, ask), clock)
      } catch (fault) {
        throw meant(fault)
      }
    }
    const at = (model: string, what: string) => `/models/${encodeURIComponent(model)}:${what}`
    const post: Post = (model, act, body, signal) => ask(at(model, act), body, signal)
    const { push } = fetch
    const line = push && ((model: string, act: string) => ({ url: baseUrl + at(model, act), headers, push }))

    return {
      name,
      dialect: 'generate-content',
      ...(baseUrl === 'https://generativelanguage.googleapis.com/v1beta' && { vendor: 'gemini' }),
      continues: false,
      ...generateContentBackend({ clock, random, voice, post, line, counted: wrapped }),

      async models(signal) {
        const found: Model[] = []
        for (let page = ''; ;) {
          const { models, nextPageToken } = await readObject(await ask(`/models?pageSize=1000${page}`, null, signal))
          if (!Array.isArray(models)) throw garbled('No list of models')
          found.push(...models.map(modelOf).filter((model) => model !== null))
          // A backend that repeats the mark of a page would otherwise never end its list.
          const next = typeof nextPageToken === 'string' && nextPageToken !== '' ? nextPageToken : null
          if (next === null || page.endsWith(`=${encodeURIComponent(next)}`)) return found
          page = `&pageToken=${encodeURIComponent(next)}`
        }
      },

      async embed({ model, texts, dimensions }, signal) {
        const vectors: Float32Array[] = []
        let input = 0
        for (const some of batchesOf(texts, { texts: mostTexts })) {
          const requests = some.map((text) => ({
            model: `models/${model}`,
            content: { role: 'user', parts: [{ text }] },
            ...(dimensions !== undefined && { outputDimensionality: dimensions }),
          }))
          const answer = await readObject(await ask(at(model, 'batchEmbedContents'), { requests }, signal))
          const rows = answer['embeddings'] as readonly { readonly values?: unknown }[]
          const told = Array.isArray(rows) ? rows.map(({ values }) => ({ embedding: values })) : null
          vectors.push(...vectorsOf(told, requests.length))
          input += Number((answer['usageMetadata'] as JsonObject | undefined)?.['promptTokenCount'] ?? 0)
        }
        return { vectors, usage: { input, output: 0 } }
      },
    }
  },
})
