import * as v from 'valibot'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { plugin } from '../../core/plugin.ts'
import { Upstream, type Model, type ModelType } from '../../core/ports/upstream.ts'
import { createdAt } from './shared/chat-backend.ts'
import { hostedChat } from './shared/hosted-chat.ts'
import { rerankBackend } from './shared/rerank-backend.ts'
import { asSystem } from './shared/fit-messages.ts'

const types: Readonly<Record<string, ModelType>> = {
  chat: 'CHAT',
  embedding: 'EMBEDDING',
  image: 'IMAGE',
  transcribe: 'AUDIO_TRANSCRIPTION',
  audio: 'AUDIO_SPEECH',
}

/** Null for models of other routes: rerankers, moderators and models that only complete texts. */
const modelOf = ({ id, type, display_name, created }: JsonObject): Model | null => {
  const known = types[String(type)]
  if (typeof id !== 'string' || known === undefined) return null
  return {
    id,
    type: known,
    ...(typeof display_name === 'string' && display_name !== '' && { description: display_name }),
    ...createdAt(created),
  }
}

/** Images have a width and a height there. Another form of `size` goes on as it is, to be refused. */
const sized = (size: string | undefined): JsonObject => {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? '') ?? []
  if (width === undefined) return size === undefined ? {} : { size }
  return { width: Number(width), height: Number(height) }
}

/** The API of Together AI. */
export default plugin({
  port: Upstream,
  name: 'together',
  ...hostedChat({
    address: 'https://api.together.xyz/v1',
    settings: {
      /** The voice for callers who name none; absent, such calls are refused there. */
      voice: v.optional(v.string()),
    },
    words: ({ voice }) => ({
      messages: asSystem,
      drawFields: () => ({ response_format: 'base64' }),
      modelOf,
      ...(voice !== undefined && { voice }),
    }),
    offers: ({ embed, transcribe, speak, streamSpeech, draw }, account) => ({
      embed,
      rerank: rerankBackend({ ...account, url: `${account.baseUrl}/rerank` }),
      transcribe,
      speak,
      streamSpeech,
      draw: ({ size, extra, ...call }, signal) => draw({ ...call, extra: { ...extra, ...sized(size) } }, signal),
    }),
  }),
})
