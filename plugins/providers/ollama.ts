import * as v from 'valibot'
import { accepted, BaseUrl, garbled, readBytes, readObject } from '../shared/backend.ts'
import { addressesIn, type Images, ollamaBody } from './ollama/chat-body.ts'
import { completionOf, ollamaEvents } from './ollama/chat-answers.ts'
import { printJson } from '../shared/print-json.ts'
import { base64Beside, decisionBackend } from './shared/decision-backend.ts'
import { vectorsOf } from './shared/media-answers.ts'
import { type WiredChat, answerBy, completedBy, wireBy } from './shared/wired-chat.ts'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch, Random } from '../../core/ports/platform.ts'
import { Upstream, type ChatCall, type Model } from '../../core/ports/upstream.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'

/** Ollama by its own chat route, whose streams have a JSON object on each line. */
export default plugin({
  port: Upstream,
  name: 'ollama',
  settings: v.strictObject({
    apiKey: v.optional(v.string()),
    baseUrl: v.optional(BaseUrl, 'http://localhost:11434'),
    /** True where the models of this name decide by themselves, and do nothing else. */
    decisions: v.optional(v.boolean(), false),
  }),
  needs: { fetch: Fetch, clock: Clock, random: Random },
  create: ({ fetch, clock, random }, { apiKey, baseUrl, decisions }, name): Upstream => {
    const headers = {
      'content-type': 'application/json',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    }
    /** Rejects unless the answer has a status of 2xx. */
    const ask = async (method: 'GET' | 'POST', path: string, body: JsonObject | null, signal: AbortSignal) =>
      accepted(
        await fetch.upstream(baseUrl + path, { method, headers, signal, ...(body && { body: await printJson(body) }) }),
        clock,
      )
    /** The image in base64. An address from the caller is fetched through the door for strangers. */
    const image = async (url: string, signal: AbortSignal): Promise<string> => {
      const answer = await fetch.outside(url, { method: 'GET', signal })
      if (answer.status === 200) return (await readBytes(answer)).toString('base64')
      answer.discard()
      throw new BadRequest('An image could not be fetched')
    }
    const fetched = async (urls: ReadonlySet<string>, signal: AbortSignal): Promise<Images> =>
      new Map(await Promise.all([...urls].map(async (url) => [url, await image(url, signal)] as const)))

    const wired = (call: ChatCall, images: Images): WiredChat => {
      const reading = { model: call.model, clock, random }
      return {
        body: ollamaBody(call, images),
        isNative: false,
        whole: (answer) => completedBy(completionOf(answer, reading), answer, null),
        events: (status) => ollamaEvents(reading, status),
        streams: () => true,
      }
    }
    const { push } = fetch

    const models = async (signal: AbortSignal): Promise<Model[]> => {
      const { models } = await readObject(await ask('GET', '/api/tags', null, signal))
      if (!Array.isArray(models)) throw garbled('No list of models')
      return models.map(({ model, name, details }): Model => {
        const embeds = /bert|embed/.test(`${details?.family} ${name}`)
        return { id: model ?? name, type: decisions ? 'DECISION' : embeds ? 'EMBEDDING' : 'CHAT' }
      })
    }

    if (decisions) {
      const url = `${baseUrl}/v1/systemone`
      // Its prompt shows the model all questions of a call.
      const form = { form: base64Beside, apart: true }
      return { name, models, decide: decisionBackend({ fetch, clock, url, headers: () => headers, ...form }) }
    }

    return {
      name,
      models,

      async chat(call, signal) {
        const chat = wired(call, await fetched(addressesIn(call), signal))
        return answerBy(chat, await ask('POST', '/api/chat', chat.body, signal), call.stream, clock)
      },

      ...(push && {
        wire: (call: ChatCall) =>
          addressesIn(call).size > 0
            ? null
            : wireBy(wired(call, new Map()), { url: `${baseUrl}/api/chat`, headers, push }),
      }),

      async embed({ model, texts, dimensions }, signal) {
        const body = { model, input: texts, ...(dimensions !== undefined && { dimensions }) }
        const { embeddings, prompt_eval_count } = await readObject(await ask('POST', '/api/embed', body, signal))
        const rows = Array.isArray(embeddings) ? embeddings.map((embedding: unknown) => ({ embedding })) : null
        return { vectors: vectorsOf(rows, texts.length), usage: { input: Number(prompt_eval_count ?? 0), output: 0 } }
      },
    }
  },
})
