import { transcriptEvents } from '../../../../core/dialects/transcript-events.ts'
import {
  type TranscriptFormat,
  formats,
  printTranscript,
  tellsSpeakers,
} from '../../../../core/dialects/transcript-formats.ts'
import type { AudioParams, TranscribeAudio, AudioAnswer } from '../../../../core/sealed/client/audio.ts'
import type { Client } from '../../../../core/sealed/client/client.ts'
import type { Spoken, Transcript } from '../../../../core/ports/upstream.ts'
import { type ProxyCall, type ProxyRoute, wholeBody } from './proxy-call.ts'
import { ProxyRefusal } from './errors.ts'

/** Seals sounds in the common audio format. Transcripts come back in the requested format. */
export const audioRoutes = ({ audio }: Client): readonly ProxyRoute[] =>
  (['transcriptions', 'translations'] as const).map((verb) => ({
    method: 'POST',
    path: new RegExp(`^/v1/audio/${verb}$`),
    tongue: 'openai',
    serve: (call) => hear(audio[verb], verb === 'translations' ? 'translate' : 'transcribe', call),
  }))

/** A request of OpenAI's transcription route, after its checks. */
interface TranscriptionRequest {
  readonly params: AudioParams
  readonly format: TranscriptFormat
  readonly stream: boolean
}

/** A sealed transcript always comes whole; a stream is made of it here, for clients that ask for one. */
const hear = async (hearing: TranscribeAudio, task: 'transcribe' | 'translate', call: ProxyCall): Promise<void> => {
  const { request, response, signal } = call
  const { params, format, stream } = askedIn(
    await formOf(request.headers['content-type'] ?? '', await wholeBody(request)),
  )
  let headers: Readonly<Record<string, string>> = {}
  const answered = (id: string | null) => void (headers = id === null ? {} : { 'x-request-id': id })
  const it = transcriptOf(await hearing.create(params, { signal, answered }))
  if (stream) {
    const events = transcriptEvents(it).map((event) => `data: ${JSON.stringify(event)}\n\n`)
    return void response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).end(events.join(''))
  }
  if (format === 'diarized_json' && it.text !== '' && !tellsSpeakers(it))
    throw new ProxyRefusal(400, 'The model does not tell speakers apart', 'response_format')
  const { type, text } = printTranscript(it, format, task)
  response.writeHead(200, { 'content-type': type, ...headers }).end(text)
}

/** Rejects with a refusal of 400 for a body that is no form. */
const formOf = (type: string, body: Buffer): Promise<FormData> =>
  new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData().catch(() => {
    throw new ProxyRefusal(400, 'The body is not a form')
  })

/** Throws a refusal of 400 with the name of the field. An empty field counts as absent. */
const askedIn = (form: FormData): TranscriptionRequest => {
  const text = (name: string): string | null => {
    const value = form.get(name)
    return typeof value === 'string' && value !== '' ? value : null
  }
  const file = form.get('file')
  const [model, language, prompt, temperature] = [text('model'), text('language'), text('prompt'), text('temperature')]
  const format = formats.find((it) => it === (text('response_format') ?? 'json'))
  if (file === null || typeof file === 'string') throw new ProxyRefusal(400, 'An audio file is expected', 'file')
  if (model === null) throw new ProxyRefusal(400, 'A model is expected', 'model')
  if (format === undefined) throw new ProxyRefusal(400, `${formats.join(', ')} are spoken here`, 'response_format')
  const stream = text('stream') === 'true'
  if (stream && format !== 'json') throw new ProxyRefusal(400, 'A stream takes json as its response_format', 'stream')
  const granularities = form.getAll('timestamp_granularities[]') as ('word' | 'segment')[]
  const params = {
    model,
    file,
    ...(language !== null && { language }),
    ...(prompt !== null && { prompt }),
    ...(temperature !== null && { temperature: Number(temperature) }),
    ...(format === 'diarized_json' && { diarize: true }),
    ...(granularities.length > 0 && { timestamp_granularities: granularities }),
  }
  return { params, format, stream }
}

/** Times in seconds from the beginning of the sound. */
interface Timed {
  readonly start: number
  readonly end: number
  readonly speaker?: number
  readonly confidence?: number
}

interface Results {
  readonly channels: readonly {
    readonly detected_language?: string
    readonly alternatives: readonly {
      readonly transcript: string
      readonly words?: readonly (Timed & { readonly word: string })[]
    }[]
  }[]
  readonly utterances?: readonly (Timed & { readonly transcript: string })[]
}

/** The enclave answers in Deepgram's shape; only the first channel and its first alternative count. */
const transcriptOf = ({ metadata, results }: AudioAnswer): Transcript => {
  const { channels, utterances = [] } = results as Results
  const { transcript: text = '', words = [] } = channels[0]?.alternatives[0] ?? {}
  const { duration } = metadata
  return {
    text,
    language: channels[0]?.detected_language ?? null,
    duration: typeof duration === 'number' ? duration : null,
    segments: utterances.map(({ transcript, ...timed }): Spoken => ({ ...timed, text: transcript })),
    words: words.map(({ word, ...timed }): Spoken => ({ ...timed, text: word })),
  }
}
