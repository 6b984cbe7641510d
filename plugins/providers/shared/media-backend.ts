import { printJson } from '../../shared/print-json.ts'
import { transcriptEvents } from '../../shared/transcript-events.ts'
import { garbled, readAnswer, readBytes } from '../../shared/backend.ts'
import { usageOf } from '../../../core/dialects/chat-completions.ts'
import type { Answer, Clock, Fetch } from '../../../core/ports/platform.ts'
import type {
  DrawCall,
  Drawn,
  EditCall,
  EmbedTokensCall,
  Embedded,
  SpeakCall,
  TranscribeCall,
  Upstream,
  WireUsage,
} from '../../../core/ports/upstream.ts'
import { type FormField, form, formOf } from './form.ts'
import { mediaOf, mimeOfFormat, transcriptOf, vectorsOf } from './media-answers.ts'
import { transcriptStream } from './transcript-stream.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'

/** How the sounds and images of a vendor differ from the common format. */
export interface MediaBackend {
  readonly fetch: Fetch
  readonly clock: Clock
  /** The format of a transcript that tells most for this call. */
  transcriptFormat?(call: TranscribeCall): string
  /** The voice for a caller who names none. */
  readonly voice?: string
  /** Fields of every image request. */
  drawFields?(model: string): JsonObject
}

/** Sends a body to a path of the backend; JSON unless its type says otherwise. Resolves with an answer of 2xx alone. */
export type PostToBackend = (
  path: string,
  model: string,
  body: string | Uint8Array,
  signal: AbortSignal,
  type?: string,
) => Promise<Answer>

/** What a server of the common format may have beside chat. */
export type MediaUpstream = Required<
  Pick<
    Upstream,
    'embed' | 'embedTokens' | 'transcribe' | 'streamTranscript' | 'speak' | 'streamSpeech' | 'draw' | 'edit'
  >
>

/** Vectors, sound and images by a server that speaks the common format. */
export const mediaBackend = (backend: MediaBackend, post: PostToBackend): MediaUpstream => {
  const listen = (call: TranscribeCall, signal: AbortSignal, more: readonly FormField[] = []): Promise<Answer> => {
    const { type, body } = form([...transcribeFields(backend, call), ...more], call.audio)
    return post(call.translate ? '/audio/translations' : '/audio/transcriptions', call.model, body, signal, type)
  }
  const heard = (body: JsonObject, call: TranscribeCall) => ({
    ...transcriptOf(body),
    ignored: ignoredBy(backend, call),
  })

  /** A server may answer a fault with status 200 and text, which must not pass as sound. */
  const utter = async (call: SpeakCall, signal: AbortSignal) => {
    const answer = await post('/audio/speech', call.model, await printJson(speakBody(backend, call)), signal)
    const type = answer.header('content-type')?.split(';')[0] ?? ''
    if (type.startsWith('text/') || type === 'application/json') {
      answer.discard()
      throw garbled('The speech is text', answer.status)
    }
    return { answer, mime: type.startsWith('audio/') ? type : mimeOfFormat(call.format ?? 'mp3') }
  }

  return {
    embed: ({ texts, ...call }, signal) => vectors(post, { ...call, input: texts }, signal),
    embedTokens: ({ tokens, ...call }, signal) => vectors(post, { ...call, input: tokens }, signal),

    transcribe: async (call, signal) => heard(await readAnswer(await listen(call, signal)), call),

    async streamTranscript(call, signal) {
      const answer = await listen(call, signal, [['stream', 'true']])
      const type = answer.header('content-type') ?? ''
      if (type.startsWith('text/event-stream')) return { parts: transcriptStream(answer, backend.clock) }
      // Some servers and models pass over `stream`.
      return { parts: each(transcriptEvents(heard(await readAnswer(answer), call), call)) }
    },

    async speak(call, signal) {
      const { answer, mime } = await utter(call, signal)
      return { mime, bytes: await readBytes(answer) }
    },

    async streamSpeech(call, signal) {
      const { answer, mime } = await utter(call, signal)
      return { mime, parts: answer.body }
    },

    async draw(call, signal) {
      const body = await printJson(drawFields(backend, call))
      return drawnOf(backend, await readAnswer(await post('/images/generations', call.model, body, signal)), signal)
    },

    async edit(call, signal) {
      const { type, body } = formOf(formFieldsOf(drawFields(backend, call)), filesOf(call))
      return drawnOf(backend, await readAnswer(await post('/images/edits', call.model, body, signal, type)), signal)
    },
  }
}

/** Fields as a form has them: an object is JSON there. */
const formFieldsOf = (fields: JsonObject): readonly FormField[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    value == null ? [] : [[name, typeof value === 'object' ? JSON.stringify(value) : `${value as string}`] as const],
  )

async function* each<T>(all: readonly T[]): AsyncGenerator<T> {
  yield* all
}

type Embedding = Omit<EmbedTokensCall, 'tokens'> & { readonly input: readonly unknown[] }

const vectors = async (
  post: PostToBackend,
  { model, input, dimensions, extra }: Embedding,
  signal: AbortSignal,
): Promise<Embedded> => {
  const named = { model, input, encoding_format: 'base64', ...(dimensions !== undefined && { dimensions }) }
  const body = await printJson({ ...extra, ...named })
  const { data, usage } = await readAnswer(await post('/embeddings', model, body, signal))
  return {
    vectors: vectorsOf(data, input.length),
    usage: usageOf(usage as WireUsage) ?? { input: 0, output: 0 },
  }
}

/** The verbose format is the default, since it has times. */
const formatOf = (backend: MediaBackend, call: TranscribeCall): string =>
  backend.transcriptFormat?.(call) ?? 'verbose_json'

const transcribeFields = (backend: MediaBackend, call: TranscribeCall): readonly FormField[] => {
  const format = formatOf(backend, call)
  const { model, language, prompt, temperature, granularities = [], extra = [] } = call
  const own: readonly FormField[] = [
    ['model', model],
    ['response_format', format],
    ...(language !== undefined && !call.translate ? [['language', language] as const] : []),
    ...(prompt !== undefined ? [['prompt', prompt] as const] : []),
    ...(temperature !== undefined ? [['temperature', `${temperature}`] as const] : []),
    ...(format === 'verbose_json' && !call.translate
      ? granularities.map((one) => ['timestamp_granularities[]', one] as const)
      : []),
  ]
  const chunked = extra.some(([name]) => name === 'chunking_strategy')
  return [
    ...own,
    ...(format === 'diarized_json' && !chunked ? [['chunking_strategy', 'auto'] as const] : []),
    ...extra.filter(([name]) => !own.some(([taken]) => taken === name)),
  ]
}

/** The common form has no fields for these; what its models do by themselves is not ignored. */
const ignoredBy = (
  backend: MediaBackend,
  call: TranscribeCall,
): NonNullable<ReturnType<typeof transcriptOf>['ignored']> => {
  const format = formatOf(backend, call)
  const timed = format === 'verbose_json'
  return [
    ...(call.diarize && format !== 'diarized_json' ? (['diarize'] as const) : []),
    ...(call.smartFormat ? (['smartFormat'] as const) : []),
    ...(call.punctuate === false ? (['punctuate'] as const) : []),
    ...(call.utterances !== undefined && call.utterances !== (format !== 'json') ? (['utterances'] as const) : []),
    ...(call.detectLanguage !== undefined && call.detectLanguage === (call.language !== undefined)
      ? (['detectLanguage'] as const)
      : []),
    ...(call.language !== undefined && call.translate ? (['language'] as const) : []),
    ...((call.granularities ?? []).includes('word') && (!timed || call.translate) ? (['granularities'] as const) : []),
  ]
}

/** Named fields win over further fields of the caller. */
const speakBody = (
  backend: MediaBackend,
  { model, text, voice = backend.voice, instructions, format, speed, extra }: SpeakCall,
): JsonObject => ({
  ...extra,
  model,
  input: text,
  ...(voice !== undefined && { voice }),
  ...(instructions !== undefined && { instructions }),
  ...(format !== undefined && { response_format: format }),
  ...(speed !== undefined && { speed }),
})

const drawFields = (backend: MediaBackend, { model, prompt, count, size, extra }: DrawCall): JsonObject => ({
  ...extra,
  ...backend.drawFields?.(model),
  model,
  prompt,
  ...(count !== undefined && { n: count }),
  ...(size !== undefined && { size }),
})

/** The field of several images ends in brackets. */
const filesOf = ({ images, mask }: EditCall) => [
  ...images.map((image) => ({ ...image, field: images.length === 1 ? 'image' : 'image[]' })),
  ...(mask === undefined ? [] : [{ ...mask, field: 'mask' }]),
]

/** `about` holds the members beside the images, such as the usage. */
const drawnOf = async ({ fetch, clock }: MediaBackend, body: JsonObject, signal: AbortSignal): Promise<Drawn> => {
  const { data, created: _, ...about } = body
  if (!Array.isArray(data) || data.length === 0) throw garbled('No images')
  const pictures = data.map(async (image: JsonObject) => {
    const revisedPrompt = image['revised_prompt']
    const media = await mediaOf(image, fetch, clock, signal)
    return { ...media, ...(typeof revisedPrompt === 'string' && { revisedPrompt }) }
  })
  return Object.assign(await Promise.all(pictures), { about })
}
