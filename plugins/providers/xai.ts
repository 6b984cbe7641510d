import * as v from 'valibot'
import { ApiSetting, roadsOf } from './shared/responses/roads.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Upstream, type DrawCall, type Model } from '../../core/ports/upstream.ts'
import { createdAt } from './shared/chat-backend.ts'
import { hostedChat, refusedFields } from './shared/hosted-chat.ts'
import { ratioOf } from './shared/aspect-ratio.ts'
import type { Counts } from './shared/chat-chunks.ts'

const refused = refusedFields('logit_bias', 'metadata', 'prediction')
const refusedByThinkers = refusedFields(...refused, 'presence_penalty', 'frequency_penalty', 'stop')
const refusedByFour = refusedFields(...refusedByThinkers, 'reasoning_effort')

/** Models that think refuse some fields, and the first ones of the fourth generation an effort too. */
const refusedBy = (model: string): ReadonlySet<string> => {
  if (/non-reasoning/.test(model) || !/^grok-(3-mini|4|code)/.test(model)) return refused
  return /^grok-4(-\d{4}$|-latest$|-fast|-1-fast|$)/.test(model) ? refusedByFour : refusedByThinkers
}

/** Null for models of other routes, such as those that make videos. */
const modelOf = ({ id, created }: JsonObject): Model | null =>
  typeof id === 'string' && !/video/.test(id)
    ? { id, type: /image/.test(id) ? 'IMAGE' : 'CHAT', ...createdAt(created) }
    : null

/** Thoughts are in the total there, and not in what was completed. */
const counts: Counts = (told) => {
  const [prompt, completion, total] = ['prompt_tokens', 'completion_tokens', 'total_tokens'].map((name) => told[name])
  const known = [prompt, completion, total].every((count) => Number.isSafeInteger(count))
  return known && Number(total) > Number(prompt) + Number(completion)
    ? { ...told, completion_tokens: Number(total) - Number(prompt) }
    : told
}

/** The shapes that its models draw. */
const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2']

/** xAI refuses a size, so it becomes the nearest shape. */
const shaped = ({ size, extra = {}, ...call }: DrawCall): DrawCall => {
  const ratio = size === undefined ? null : ratioOf(size, ratios)
  return { ...call, extra: { ...(ratio !== null && { aspect_ratio: ratio }), ...extra } }
}

/** The API of xAI. */
export default plugin({
  port: Upstream,
  name: 'xai',
  ...hostedChat({
    address: 'https://api.x.ai/v1',
    settings: {
      /** Which interface models are asked by; chat completions unless a model's refusal names the other. */
      api: v.optional(ApiSetting, 'auto'),
    },
    words: ({ api }, ports, name) => ({
      roads: roadsOf(ports, name, api, () => ''),
      unheard: refusedBy,
      counts,
      drawFields: () => ({ response_format: 'b64_json' }),
      modelOf,
    }),
    offers: ({ draw }) => ({ draw: (call, signal) => draw(shaped(call), signal) }),
  }),
})
