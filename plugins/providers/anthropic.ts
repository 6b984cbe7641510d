import * as v from 'valibot'
import { chunksOf, completionOf } from '../../core/dialects/anthropic-messages-answers.ts'
import { messagesBody, type Generation } from '../../core/dialects/anthropic-messages.ts'
import { accepted, BaseUrl, garbled, readObject } from '../../core/dialects/backend.ts'
import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/host.ts'
import { Upstream, type Model } from '../../core/ports/upstream.ts'

type Fields = Readonly<Record<string, unknown>>

const text = v.pipe(v.string(), v.minLength(1))

const Understood = v.strictObject({
  thinks: v.picklist(['never', 'budget', 'effort']),
  formats: v.boolean(),
  samples: v.boolean(),
  maxTokens: v.pipe(v.number(), v.integer(), v.minValue(1)),
})

/** Names of the past, which stay as they are. Whatever is not here is newer. */
const older: readonly (readonly [RegExp, Generation])[] = [
  [/^claude-(instant|2|3-(opus|sonnet|haiku))/, { thinks: 'never', formats: false, samples: true, maxTokens: 4096 }],
  [/^claude-3-5/, { thinks: 'never', formats: false, samples: true, maxTokens: 8192 }],
  [
    /^claude-(3-7|(opus|sonnet)-4(-[01])?(-\d{8}|$))/,
    { thinks: 'budget', formats: false, samples: true, maxTokens: 32_000 },
  ],
  [/^claude-(opus|sonnet|haiku)-4-5/, { thinks: 'budget', formats: true, samples: true, maxTokens: 32_000 }],
  [/^claude-(opus|sonnet)-4-6/, { thinks: 'effort', formats: true, samples: true, maxTokens: 32_000 }],
]
const newest: Generation = { thinks: 'effort', formats: true, samples: false, maxTokens: 32_000 }

const modelOf = ({ id, display_name, capabilities }: Fields): Model => {
  const sees = ((capabilities as Fields | null)?.['image_input'] as Fields | undefined)?.['supported']
  return {
    id: String(id),
    type: 'CHAT',
    ...(typeof display_name === 'string' && { description: display_name }),
    ...(typeof sees === 'boolean' && { modalities: sees ? ['text', 'image'] : ['text'] }),
  }
}

/** They refuse some things as the caller's mistake that are not. */
const meant = (fault: unknown, continues: boolean): unknown => {
  if (!(fault instanceof BadRequest)) return fault
  const unpaid = fault.cause instanceof Error && fault.cause.message.includes('credit balance is too low')
  return unpaid || continues ? new UpstreamFailed(undefined, { again: true, answered: 400, cause: fault.cause }) : fault
}

export default plugin({
  port: Upstream,
  name: 'anthropic',
  settings: v.strictObject({
    apiKey: text,
    baseUrl: v.optional(BaseUrl, 'https://api.anthropic.com'),
    version: v.optional(text, '2023-06-01'),
    betas: v.optional(v.array(text), []),
    /** What its models understand, where that can't be told from their names. */
    generation: v.optional(v.partial(Understood), {}),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl, version, betas, generation }, name): Upstream => {
    const headers = {
      'x-api-key': apiKey,
      'anthropic-version': version,
      'content-type': 'application/json',
      ...(betas.length > 0 && { 'anthropic-beta': betas.join() }),
    }
    const generationOf = (model: string): Generation => ({
      ...(older.find(([named]) => named.test(model))?.[1] ?? newest),
      ...generation,
    })

    return {
      name,

      async models(signal) {
        const models: Model[] = []
        for (let after: unknown = null; ;) {
          const page = typeof after === 'string' ? `&after_id=${encodeURIComponent(after)}` : ''
          const answer = await fetch.upstream(`${baseUrl}/v1/models?limit=1000${page}`, {
            method: 'GET',
            headers,
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
        const { body, asked } = messagesBody(call, generationOf(call.model))
        const ask = { method: 'POST', headers, body: JSON.stringify(body), signal } as const
        try {
          const answer = await accepted(await fetch.upstream(`${baseUrl}/v1/messages`, ask), clock)
          if (call.stream) return { kind: 'chunks', chunks: chunksOf(answer, asked, clock) }
          return { kind: 'completion', completion: completionOf(await readObject(answer), asked, clock) }
        } catch (fault) {
          // Newer models refuse to go on from a prefix.
          throw meant(fault, call.prefix !== undefined)
        }
      },
    }
  },
})
