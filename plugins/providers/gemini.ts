import * as v from 'valibot'
import { accepted, BaseUrl, garbled, readObject } from '../../core/dialects/backend.ts'
import { printJson } from '../../core/dialects/print-json.ts'
import { chunksOf, completionOf } from './gemini/generate-content-answers.ts'
import {
  drawBody,
  drawnOf,
  editBody,
  speakBody,
  speechOf,
  transcribeBody,
  transcriptOf,
} from './gemini/generate-content-media.ts'
import { generateBody, type Generation } from './gemini/generate-content.ts'
import { vectorsOf } from './shared/media-answers.ts'
import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch, Random } from '../../core/ports/platform.ts'
import { Upstream, type DrawCall, type Drawn, type Model, type ModelType } from '../../core/ports/upstream.ts'

type Fields = Readonly<Record<string, unknown>>

const text = v.pipe(v.string(), v.minLength(1))

/** Texts of one request for vectors. */
const most = 100

/** Names of the past, which stay as they are. Whatever is not here is newer. */
const generationOf = (model: string): Generation => {
  if (!/^gemini-/.test(model) || /^gemini-(1|2\.0)/.test(model)) return { thinks: 'never', least: 0 }
  if (/^gemini-2\.5/.test(model)) return { thinks: 'budget', least: /pro/.test(model) ? 128 : 0 }
  return { thinks: 'level', least: /flash/.test(model) ? 'MINIMAL' : 'LOW' }
}

const kinds: readonly (readonly [RegExp, ModelType])[] = [
  [/tts/, 'AUDIO_SPEECH'],
  [/transcribe/, 'AUDIO_TRANSCRIPTION'],
  [/image|banana/, 'IMAGE'],
]

/** Null for a model that other routes serve. */
const modelOf = ({ name, displayName, description, supportedGenerationMethods: methods }: Fields): Model | null => {
  const id = String(name).replace(/^models\//, '')
  const about = {
    ...(typeof (description ?? displayName) === 'string' && { description: String(description ?? displayName) }),
  }
  if (!Array.isArray(methods)) return null
  if (methods.includes('embedContent')) return { id, type: 'EMBEDDING', ...about }
  if (!methods.includes('generateContent')) return null
  return { id, type: kinds.find(([named]) => named.test(id))?.[1] ?? 'CHAT', ...about }
}

/** They refuse some things as the caller's mistake that are not, and tell in the body when another try makes sense. */
const meant = (fault: unknown): unknown => {
  const said = fault instanceof BadRequest || fault instanceof UpstreamFailed ? fault.cause : null
  if (!(said instanceof Error)) return fault
  const { message } = said
  if (fault instanceof BadRequest && /"(API_KEY_INVALID|FAILED_PRECONDITION)"/.test(message)) {
    return new UpstreamFailed(undefined, { again: true, answered: 400, cause: said })
  }
  const wait = /"retryDelay":\s*"([\d.]+)s"/.exec(message)
  if (!(fault instanceof UpstreamFailed) || fault.retryAfter !== null || !wait) return fault
  const { again, answered, code } = fault
  return new UpstreamFailed(undefined, { again, answered, code, retryAfter: Number(wait[1]) * 1000, cause: said })
}

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

    const ask = async (path: string, body: Fields | null, signal: AbortSignal) => {
      const method = body === null ? 'GET' : 'POST'
      const asked = { method, headers, signal, ...(body && { body: await printJson(body) }) } as const
      try {
        return await accepted(await fetch.upstream(baseUrl + path, asked), clock)
      } catch (fault) {
        throw meant(fault)
      }
    }
    const at = (model: string, what: string) => `/models/${encodeURIComponent(model)}:${what}`
    const generate = async (model: string, body: Fields, signal: AbortSignal) =>
      readObject(await ask(at(model, 'generateContent'), body, signal))
    const drawing = async ({ model, count = 1 }: DrawCall, body: Fields, signal: AbortSignal): Promise<Drawn> => {
      // They draw one image at a time.
      const answers = Array.from({ length: Math.max(1, count) }, () => generate(model, body, signal))
      const drawn = drawnOf(await Promise.all(answers))
      return Object.assign(drawn.slice(0, Math.max(1, count)), drawn.about && { about: drawn.about })
    }

    return {
      name,
      dialect: 'generate-content',
      ...(baseUrl === 'https://generativelanguage.googleapis.com/v1beta' && { vendor: 'gemini' }),
      continues: false,

      async models(signal) {
        const found: Model[] = []
        for (let page = ''; ;) {
          const { models, nextPageToken } = await readObject(await ask(`/models?pageSize=1000${page}`, null, signal))
          if (!Array.isArray(models)) throw garbled('No list of models')
          found.push(...models.map(modelOf).filter((model) => model !== null))
          const next = typeof nextPageToken === 'string' && nextPageToken !== '' ? nextPageToken : null
          if (next === null || page.endsWith(`=${encodeURIComponent(next)}`)) return found
          page = `&pageToken=${encodeURIComponent(next)}`
        }
      },

      async chat(call, signal) {
        const { model, stream, prefix } = call
        if (prefix !== undefined) {
          throw new UpstreamFailed(undefined, { again: true, cause: new Error('The backend cannot continue a prefix') })
        }
        const body = generateBody(call, generationOf(model))
        const reading = { model, clock, random }
        if (!stream) {
          const whole = await generate(model, body, signal)
          const completion = completionOf(whole, reading)
          if (call.native?.dialect !== 'generate-content') return { kind: 'completion', completion }
          return { kind: 'completion', completion, native: { dialect: 'generate-content', body: whole, headers: {} } }
        }
        const answer = await ask(`${at(model, 'streamGenerateContent')}?alt=sse`, body, signal)
        return { kind: 'chunks', chunks: chunksOf(answer, reading) }
      },

      async embed({ model, texts, dimensions }, signal) {
        const vectors: Float32Array[] = []
        let input = 0
        for (let from = 0; from < texts.length; from += most) {
          const requests = texts.slice(from, from + most).map((text) => ({
            model: `models/${model}`,
            content: { role: 'user', parts: [{ text }] },
            ...(dimensions !== undefined && { outputDimensionality: dimensions }),
          }))
          const answer = await readObject(await ask(at(model, 'batchEmbedContents'), { requests }, signal))
          const rows = answer['embeddings'] as readonly { readonly values?: unknown }[]
          const told = Array.isArray(rows) ? rows.map(({ values }) => ({ embedding: values })) : null
          vectors.push(...vectorsOf(told, requests.length))
          input += Number((answer['usageMetadata'] as Fields | undefined)?.['promptTokenCount'] ?? 0)
        }
        return { vectors, usage: { input, output: 0 } }
      },

      draw: (call, signal) => drawing(call, drawBody(call), signal),
      edit: async (call, signal) => drawing(call, editBody(call), signal),

      async speak(call, signal) {
        return speechOf(await generate(call.model, speakBody(call, voice), signal), call.format)
      },

      async transcribe(call, signal) {
        return transcriptOf(await generate(call.model, transcribeBody(call), signal), call)
      },
    }
  },
})
