import { UpstreamFailed } from '../../../core/errors.ts'
import type { Answer, Clock, Fetch } from '../../../core/ports/platform.ts'
import type { ChatCall, Model, SpeakCall, TranscribeCall, Upstream, WireUsage } from '../../../core/ports/upstream.ts'
import { accepted, garbled, readBytes, readObject, readText } from '../../../core/dialects/backend.ts'
import { chunksOf, wholeOf } from './chat-chunks.ts'
import { usageOf } from '../../../core/dialects/chat-completions.ts'
import { form } from './form.ts'
import { mediaOf, mimeOfFormat, transcriptOf, vectorsOf } from './media-answers.ts'

type Fields = Readonly<Record<string, unknown>>

export interface ChatBackend {
  readonly fetch: Fetch
  readonly clock: Clock
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** Where a path is found when not under `baseUrl`; the model is null for the list of models. */
  url?(path: string, model: string | null): string
  /** False for a backend that ends its streams without `[DONE]`. */
  readonly marksEnd?: boolean
  /** Fields that make the backend go on from a trailing assistant message; null when it can't. */
  readonly continuation?: Fields | null
  /** What the backend's own list says of a model; null to leave it out. */
  modelOf?(entry: Fields): Model | null
  /** Fields of every chat body, behind those of the caller. */
  chatFields?(call: ChatCall): Fields
  /** The format of a transcript that tells most for this call. */
  transcriptFormat?(call: TranscribeCall): string
  /** The voice for a caller who names none. */
  readonly voice?: string
  /** Fields of every image request. */
  drawFields?(model: string): Fields
}

export type ChatUpstream = Required<Pick<Upstream, 'models' | 'chat' | 'embed' | 'transcribe' | 'speak' | 'draw'>>

/** The back door of the public chat format: everything that a server which speaks it may have. */
export const chatBackend = (it: ChatBackend): ChatUpstream => {
  const { fetch, clock, headers } = it
  const where = it.url ?? ((path: string) => it.baseUrl + path)
  const typed = { ...headers, 'content-type': 'application/json' }

  const get = async (path: string, signal: AbortSignal): Promise<Answer> =>
    accepted(await fetch.upstream(where(path, null), { method: 'GET', headers, signal }), clock)

  const post = async (
    path: string,
    model: string,
    body: string | Uint8Array,
    signal: AbortSignal,
    type?: string,
  ): Promise<Answer> => {
    const own = type === undefined ? typed : { ...headers, 'content-type': type }
    return accepted(await fetch.upstream(where(path, model), { method: 'POST', headers: own, body, signal }), clock)
  }

  return {
    async models(signal) {
      const { data } = await readObject(await get('/models', signal))
      if (!Array.isArray(data)) throw garbled('No list of models')
      return data.map((entry) => (it.modelOf ?? plainModel)(entry as Fields)).filter((model) => model !== null)
    },

    async chat(call, signal) {
      const answer = await post('/chat/completions', call.model, JSON.stringify(chatBody(it, call)), signal)
      const type = answer.header('content-type') ?? ''
      if (call.stream && !type.startsWith('application/json')) {
        if (!type.startsWith('text/html'))
          return { kind: 'chunks', chunks: chunksOf(answer, clock, it.marksEnd ?? true) }
        answer.discard()
        throw garbled('The stream is a page', answer.status)
      }
      return wholeOf(await readText(answer), answer.status)
    },

    async embed({ model, texts, dimensions }, signal) {
      const body = { model, input: texts, encoding_format: 'base64', ...(dimensions !== undefined && { dimensions }) }
      const { data, usage } = await readObject(await post('/embeddings', model, JSON.stringify(body), signal))
      const vectors = vectorsOf(data, texts.length)
      return { vectors, usage: usageOf(usage as WireUsage) ?? { input: 0, output: 0 } }
    },

    async transcribe(call, signal) {
      const { type, body } = form(transcribeFields(it, call), call.audio)
      const path = call.translate ? '/audio/translations' : '/audio/transcriptions'
      return transcriptOf(await readObject(await post(path, call.model, body, signal, type)))
    },

    async speak(call, signal) {
      const answer = await post('/audio/speech', call.model, JSON.stringify(speakBody(it, call)), signal)
      const type = answer.header('content-type')?.split(';')[0] ?? ''
      const bytes = await readBytes(answer)
      if (type.startsWith('text/') || type === 'application/json') throw garbled('The speech is text', answer.status)
      return { mime: type.startsWith('audio/') ? type : mimeOfFormat(call.format ?? 'mp3'), bytes }
    },

    async draw({ model, prompt, count, size, extra }, signal) {
      const named = { ...(count !== undefined && { n: count }), ...(size !== undefined && { size }) }
      const body = { ...extra, ...it.drawFields?.(model), model, prompt, ...named }
      const { data } = await readObject(await post('/images/generations', model, JSON.stringify(body), signal))
      if (!Array.isArray(data) || data.length === 0) throw garbled('No images')
      return Promise.all(data.map((image) => mediaOf(image, fetch, clock, signal)))
    },
  }
}

const plainModel = ({ id }: Fields): Model | null => (typeof id === 'string' ? { id, type: 'CHAT' } : null)

const chatBody = (it: ChatBackend, call: ChatCall): Fields => {
  const { model, stream, prefix, body } = call
  // New fields stand in front, and undefined fields are not printed: adding to a copy, or leaving out of it, is slow.
  const asked: Record<string, unknown> = { model, stream: undefined, stream_options: undefined, ...body }
  Object.assign(asked, it.chatFields?.(call))
  asked['stream'] = stream || undefined
  asked['stream_options'] = stream ? { ...(body['stream_options'] as object), include_usage: true } : undefined
  if (prefix === undefined) return asked
  if (!it.continuation)
    throw new UpstreamFailed(undefined, { again: true, cause: new Error('The backend cannot continue a prefix') })
  return { ...asked, ...it.continuation, messages: [...body.messages, { role: 'assistant', content: prefix }] }
}

const transcribeFields = (it: ChatBackend, call: TranscribeCall): readonly (readonly [string, string])[] => {
  const format = it.transcriptFormat?.(call) ?? 'verbose_json'
  const { model, language, prompt, temperature, granularities = [] } = call
  return [
    ['model', model],
    ['response_format', format],
    ...(language !== undefined && !call.translate ? [['language', language] as const] : []),
    ...(prompt !== undefined ? [['prompt', prompt] as const] : []),
    ...(temperature !== undefined ? [['temperature', `${temperature}`] as const] : []),
    ...(format === 'verbose_json' && !call.translate
      ? granularities.map((one) => ['timestamp_granularities[]', one] as const)
      : []),
    ...(format === 'diarized_json' ? [['chunking_strategy', 'auto'] as const] : []),
  ]
}

const speakBody = (
  it: ChatBackend,
  { model, text, voice = it.voice, instructions, format, speed }: SpeakCall,
): Fields => ({
  model,
  input: text,
  ...(voice !== undefined && { voice }),
  ...(instructions !== undefined && { instructions }),
  ...(format !== undefined && { response_format: format }),
  ...(speed !== undefined && { speed }),
})
