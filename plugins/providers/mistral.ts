import { createHash } from 'node:crypto'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Upstream, type Message, type Model } from '../../core/ports/upstream.ts'
import { createdAt } from './shared/chat-backend.ts'
import { embedInBatches } from './shared/embed-in-batches.ts'
import { hostedChat, refusedFields } from './shared/hosted-chat.ts'
import { asSystem, onlyMembers } from './shared/fit-messages.ts'

/** Usage comes without being asked for, so `stream_options` has no place either. */
const refused = refusedFields(
  'stream_options',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'user',
  'service_tier',
  'prompt_cache_key',
  'web_search_options',
)

/** The members of a message that Mistral takes. */
const members: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'tool_call_id', 'name', 'prefix'])

/** Ids of calls have nine letters and digits. An id that another backend gave becomes one of that form, always the same. */
const idOf = (id: string): string =>
  /^[A-Za-z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)

/** Thoughts stand before the text, as a part of a type of their own. */
const thinking = (message: Message): Message => {
  const { reasoning_content: thoughts, content } = message
  if (typeof thoughts !== 'string' || thoughts === '' || message.role !== 'assistant') return message
  const parts =
    typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : (content ?? [])
  return { ...message, content: [{ type: 'thinking', thinking: [{ type: 'text', text: thoughts }] }, ...parts] }
}

const fitted = (messages: readonly Message[]): readonly Message[] =>
  onlyMembers(asSystem(messages).map(thinking), members).map((message) => ({
    ...message,
    ...(message.tool_call_id !== undefined && { tool_call_id: idOf(message.tool_call_id) }),
    ...(message.tool_calls && { tool_calls: message.tool_calls.map((call) => ({ ...call, id: idOf(call.id) })) }),
  }))

/** Null for models of routes that the gateway has no likeness of, such as OCR and moderation. */
const modelOf = ({ id, description, created, capabilities }: JsonObject): Model | null => {
  if (typeof id !== 'string') return null
  const { completion_chat, vision } = (capabilities ?? {}) as JsonObject
  const about = { ...(typeof description === 'string' && { description }), ...createdAt(created) }
  if (/embed/.test(id)) return { id, type: 'EMBEDDING', ...about }
  if (completion_chat === false) return null
  return { id, type: 'CHAT', ...about, ...(vision === true && { modalities: ['text', 'image'] }) }
}

/** The API of Mistral. */
export default plugin({
  port: Upstream,
  name: 'mistral',
  ...hostedChat({
    address: 'https://api.mistral.ai/v1',
    words: () => ({
      unheard: () => refused,
      renames: { seed: 'random_seed', max_completion_tokens: 'max_tokens' },
      messages: fitted,
      modelOf,
    }),
    offers: ({ embed }) => ({
      embed: embedInBatches(
        ({ dimensions, extra, ...call }, signal) =>
          embed(
            { ...call, extra: { ...extra, ...(dimensions !== undefined && { output_dimension: dimensions }) } },
            signal,
          ),
        // The vendor takes 256 texts and 16,384 tokens, and the guess is low for some languages.
        { texts: 256, tokens: 8_192 },
      ),
    }),
  }),
})
