import * as v from 'valibot'
import { countBody, countOf } from './shared/messages/count-messages.ts'
import { batchRelay } from './shared/batch-relay.ts'
import { completionOf, messagesEvents, usedOfMessages } from './shared/messages/messages-answers.ts'
import { generationOf } from './shared/messages/generations.ts'
import { messagesBody, unsampled } from './shared/messages/messages.ts'
import { accepted, BaseUrl, garbled, readObject } from '../shared/backend.ts'
import { callerKey } from '../shared/caller-key.ts'
import { oneSignIn } from './shared/one-sign-in.ts'
import { printJson } from '../shared/print-json.ts'
import { type WiredChat, answerBy, completedBy, wireBy } from './shared/wired-chat.ts'
import { BadRequest, UpstreamFailed, Forbidden, Unauthorized } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { type ChatCall, type Model, type Native, Upstream } from '../../core/ports/upstream.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'

const text = v.pipe(v.string(), v.minLength(1))
const vendorsOwn = 'https://api.anthropic.com'

/** The version of the API, unless the settings or the caller name another. */
const latest = '2026-10-21'

/** The last version that knows how to sample is an older one. */
const versionFor = (body: JsonObject): string =>
  'temperature' in body || 'top_p' in body || 'top_k' in body ? '2023-06-01' : latest

const modelOf = ({ id, display_name, capabilities }: JsonObject): Model => {
  const sees = ((capabilities as JsonObject | null)?.['image_input'] as JsonObject | undefined)?.['supported']
  return {
    id: String(id),
    type: 'CHAT',
    ...(typeof display_name === 'string' && { description: display_name }),
    ...(typeof sees === 'boolean' && { modalities: sees ? ['text', 'image'] : ['text'] }),
  }
}

/** Models that refuse to go on from a prefix call it the caller's mistake, which it is not. */
const meant = (fault: unknown, continues: boolean): unknown =>
  fault instanceof BadRequest && continues
    ? new UpstreamFailed(undefined, { again: true, answered: 400, cause: fault.cause })
    : fault

export default plugin({
  port: Upstream,
  name: 'anthropic',
  settings: v.pipe(
    v.strictObject({
      /** May be absent with `passCallerKey`: then each caller brings its own credential, and `models` of the gateway names the models. */
      apiKey: v.optional(text),
      /** A call goes out under the caller's own `authorization: Bearer sk-ant-…`, where one came beside the gateway's key. */
      passCallerKey: v.optional(v.boolean(), false),
      baseUrl: v.optional(BaseUrl, vendorsOwn),
      /** By default the latest that knows all fields of the request. */
      version: v.optional(text),
      betas: v.optional(v.array(text), []),
      /** Whether the server has batches; absent, Anthropic itself has them. */
      batches: v.optional(v.boolean()),
      /** The abilities of models whose names do not reveal them. */
      generation: v.optional(
        v.strictObject({
          thinks: v.exactOptional(v.picklist(['never', 'budget', 'effort'])),
          formats: v.exactOptional(v.boolean()),
          forces: v.exactOptional(v.boolean()),
          samples: v.exactOptional(v.boolean()),
          maxTokens: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
        }),
        {},
      ),
    }),
    oneSignIn(({ apiKey, passCallerKey }) => apiKey !== undefined || passCallerKey, 'apiKey, or passCallerKey'),
  ),
  needs: { fetch: Fetch, clock: Clock },
  create: (
    { fetch, clock },
    { apiKey, passCallerKey, baseUrl, version, betas, batches, generation: own },
    name,
  ): Upstream => {
    const signedBy = (callers: string | undefined): string => {
      const own = apiKey === undefined ? null : `Bearer ${apiKey}`
      const key = passCallerKey ? (callers ?? own) : own
      if (key === null) throw withoutKey()
      return key
    }
    /** What the caller names goes on byte for byte, behind what the operator names. */
    const headersFor = (body: JsonObject, { beside }: Pick<ChatCall, 'beside'>, native: Native | null) => {
      const told = native?.headers ?? {}
      const named = [...betas, ...(told['anthropic-beta'] === undefined ? [] : [told['anthropic-beta']])]
      const usual = {
        'anthropic-version': version ?? told['anthropic-version'] ?? versionFor(body),
        'content-type': 'application/json',
        authorization: signedBy(beside?.[callerKey]),
      }
      return named.length === 0 ? usual : { ...usual, 'anthropic-beta': named.join() }
    }

    const url = `${baseUrl}/v1/messages`
    const wired = (call: ChatCall): WiredChat & { readonly headers: Readonly<Record<string, string>> } => {
      const { body, request } = messagesBody(call, { ...generationOf(call.model), ...own })
      const native = call.native?.dialect === 'messages' ? call.native : null
      return {
        body,
        headers: headersFor(body, call, native),
        isNative: native !== null,
        whole: (answer) => completedBy(completionOf(answer, request, clock), answer, native && 'messages'),
        events: (status) => messagesEvents(request, clock, status),
      }
    }
    const { push } = fetch
    const hasBatches = apiKey !== undefined && (batches ?? baseUrl === vendorsOwn)
    const relay = () =>
      batchRelay({
        ...{ fetch, clock, baseUrl, dialect: 'messages', used: usedOfMessages },
        headers: (told) => headersFor({}, {}, { dialect: 'messages', body: {}, headers: told }),
      })

    return {
      name,
      dialect: 'messages',
      ...(passCallerKey && { takes: [callerKey] }),
      unheard: (model, body) => unsampled({ ...generationOf(model), ...own }, body),
      ...(push && {
        wire(call: ChatCall) {
          const chat = wired(call)
          return wireBy(chat, { url, push, headers: chat.headers })
        },
      }),
      ...(hasBatches && { batches: relay() }),
      ...(baseUrl === vendorsOwn && { vendor: 'anthropic' }),

      async models(signal) {
        const models: Model[] = []
        if (apiKey === undefined) return models
        for (let after: unknown = null; ;) {
          const page = typeof after === 'string' ? `&after_id=${encodeURIComponent(after)}` : ''
          const answer = await fetch.upstream(`${baseUrl}/v1/models?limit=1000${page}`, {
            method: 'GET',
            headers: headersFor({}, {}, null),
            signal,
          })
          const { data, has_more, last_id } = await readObject(await accepted(answer, clock))
          if (!Array.isArray(data)) throw garbled('No list of models')
          models.push(...data.map(modelOf))
          if (has_more !== true || typeof last_id !== 'string' || last_id === after) return models
          after = last_id
        }
      },

      async chat(call, signal) {
        const chat = wired(call)
        const ask = { method: 'POST', headers: chat.headers, body: await printJson(chat.body), signal } as const
        try {
          return await answerBy(chat, await accepted(await fetch.upstream(url, ask), clock), call.stream, clock)
        } catch (fault) {
          // Newer models refuse to go on from a prefix.
          throw meant(call.beside?.[callerKey] === undefined ? fault : callersFault(fault), call.prefix !== undefined)
        }
      },

      async countTokens(call, signal) {
        const body = countBody(call, { ...generationOf(call.model), ...own })
        const native = call.native?.dialect === 'messages' ? call.native : null
        const ask = {
          method: 'POST',
          headers: headersFor(body, call, native),
          body: await printJson(body),
          signal,
        } as const
        const answer = await fetch.upstream(`${url}/count_tokens`, ask)
        return countOf(
          await Promise.resolve(accepted(answer, clock)).catch((fault: unknown) => {
            throw call.beside?.[callerKey] === undefined ? fault : callersFault(fault)
          }),
          call,
        )
      },
    }
  },
})

/** A call that brings no credential to a backend that has none of its own. */
const withoutKey = (): Unauthorized =>
  new Unauthorized({
    code: 'caller_key_missing',
    validator: {
      authorization: 'Expected the caller’s own credential at the vendor, beside the key in x-sealgate-key',
    },
  })

/** A vendor that refuses the caller's own credential says nothing of the backend, so no other backend is asked. */
const callersFault = (fault: unknown): unknown => {
  if (!(fault instanceof UpstreamFailed)) return fault
  const facts = { code: 'caller_key_refused', cause: fault.cause }
  if (fault.answered === 401) return new Unauthorized(facts)
  if (fault.answered === 402 || fault.answered === 403 || fault.answered === 404)
    return new Forbidden('The vendor refused the call under the caller’s own credential', facts)
  return fault
}
