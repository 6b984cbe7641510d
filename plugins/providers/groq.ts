import * as v from 'valibot'
import { BaseUrl } from '../../core/dialects/backend.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { Upstream, type Model, type ModelType } from '../../core/ports/upstream.ts'
import { chatBackend, createdAt } from './shared/chat-backend.ts'
import { onlyMembers } from './shared/fit-messages.ts'

const unheard: ReadonlySet<string> = new Set([
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'store',
  'metadata',
  'modalities',
  'audio',
  'prediction',
  'verbosity',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'web_search_options',
])

const members: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'tool_call_id', 'reasoning'])

const kinds: readonly (readonly [RegExp, ModelType])[] = [
  [/whisper/, 'AUDIO_TRANSCRIPTION'],
  [/tts|orpheus/, 'AUDIO_SPEECH'],
]

const modelOf = ({ id, created, active }: JsonObject): Model | null =>
  typeof id === 'string' && active !== false
    ? { id, type: kinds.find(([named]) => named.test(id))?.[1] ?? 'CHAT', ...createdAt(created) }
    : null

/** The API of Groq. */
export default plugin({
  port: Upstream,
  name: 'groq',
  settings: v.strictObject({
    apiKey: v.pipe(v.string(), v.minLength(1)),
    baseUrl: v.optional(BaseUrl, 'https://api.groq.com/openai/v1'),
    /** The voice for callers who name none; absent, such calls are refused there. */
    voice: v.optional(v.string()),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl, voice }, name): Upstream => {
    const { models, chat, transcribe, speak, streamSpeech } = chatBackend({
      fetch,
      clock,
      baseUrl,
      headers: { authorization: `Bearer ${apiKey}` },
      unheard: () => unheard,
      messages: (messages) => onlyMembers(messages, members),
      modelOf,
      ...(voice !== undefined && { voice }),
    })
    return { name, models, chat, continues: false, unheard: () => unheard, transcribe, speak, streamSpeech }
  },
})
