import * as v from 'valibot'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Upstream, type Message, type Model, type ModelType } from '../../core/ports/upstream.ts'
import { createdAt } from './shared/chat-backend.ts'
import { hostedChat, refusedFields } from './shared/hosted-chat.ts'
import { onlyMembers } from './shared/fit-messages.ts'

const refused = refusedFields(
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'metadata',
  'prediction',
  'prompt_cache_key',
  'web_search_options',
)

/** The members of a message that Groq takes. */
const members: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'tool_call_id', 'reasoning'])

/** Models that take their thoughts back. */
const takesThoughts = /qwen|gpt-oss|deepseek/

/** Thoughts under the name that Groq gives them. */
const thinkingBy =
  (model: string) =>
  (message: Message): Message =>
    typeof message['reasoning_content'] === 'string' && takesThoughts.test(model)
      ? { ...message, reasoning: message['reasoning_content'] }
      : message

const kinds: readonly (readonly [RegExp, ModelType])[] = [
  [/whisper/, 'AUDIO_TRANSCRIPTION'],
  [/tts|orpheus/, 'AUDIO_SPEECH'],
]

/** Null for a model that is out of service. */
const modelOf = ({ id, created, active }: JsonObject): Model | null =>
  typeof id === 'string' && active !== false
    ? { id, type: kinds.find(([named]) => named.test(id))?.[1] ?? 'CHAT', ...createdAt(created) }
    : null

/** The API of Groq. */
export default plugin({
  port: Upstream,
  name: 'groq',
  ...hostedChat({
    address: 'https://api.groq.com/openai/v1',
    settings: {
      /** The voice for callers who name none; absent, such calls are refused there. */
      voice: v.optional(v.string()),
    },
    words: ({ voice }) => ({
      unheard: () => refused,
      messages: (messages, model) => onlyMembers(messages.map(thinkingBy(model)), members),
      modelOf,
      ...(voice !== undefined && { voice }),
    }),
    offers: ({ transcribe, speak, streamSpeech }) => ({ transcribe, speak, streamSpeech }),
  }),
})
