import * as v from 'valibot'
import { accepted, BaseUrl, garbled, readObject } from '../shared/backend.ts'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import {
  Upstream,
  type Model,
  type Spoken,
  type TranscribeCall,
  type TranscribeOption,
  type Transcript,
} from '../../core/ports/upstream.ts'
import type { JsonObject } from '../../core/dialects/json-object.ts'
import { lengthOf } from './shared/media-answers.ts'

/** `start` and `end` are in seconds. An utterance has its text in `transcript`. */
interface Word {
  readonly word?: string
  readonly punctuated_word?: string
  readonly transcript?: string
  readonly start?: number
  readonly end?: number
  readonly confidence?: number
  readonly speaker?: number
}

const spoken = ({ word, punctuated_word, transcript, start, end, confidence, speaker }: Word): Spoken => ({
  text: transcript ?? punctuated_word ?? word ?? '',
  start: start ?? 0,
  end: end ?? 0,
  ...(speaker !== undefined && { speaker }),
  ...(confidence !== undefined && { confidence }),
})

interface Results {
  readonly channels?: readonly {
    readonly detected_language?: string
    readonly alternatives?: readonly { readonly transcript?: string; readonly words?: readonly Word[] }[]
  }[]
  readonly utterances?: readonly Word[]
}

const transcriptOf = (native: JsonObject, language: string | null): Transcript => {
  const { metadata, results } = native as { metadata?: { duration?: number }; results?: Results }
  const channel = results?.channels?.[0]
  const heard = channel?.alternatives?.[0]
  if (!metadata || typeof heard?.transcript !== 'string') throw garbled('No transcript in the answer')
  return {
    text: heard.transcript,
    language: channel?.detected_language ?? language,
    duration: lengthOf(metadata.duration),
    segments: (results?.utterances ?? []).map(spoken),
    words: (heard.words ?? []).map(spoken),
    native,
  }
}

/** The operator's parameters win over those of the call. */
const queryOf = (call: TranscribeCall, own: JsonObject): URLSearchParams => {
  const { model, language, diarize, smartFormat, punctuate = true, utterances = true } = call
  const { detectLanguage = language === undefined } = call
  return new URLSearchParams({
    model,
    ...(language !== undefined && { language }),
    ...(detectLanguage && { detect_language: 'true' }),
    punctuate: `${punctuate}`,
    utterances: `${utterances}`,
    paragraphs: 'true',
    ...(diarize && { diarize: 'true' }),
    ...(smartFormat && { smart_format: 'true' }),
    ...(own as Record<string, string>),
  })
}

/** Deepgram has no fields for these options; its answer contains words in any case. */
const ignoredBy = ({ prompt, temperature }: TranscribeCall): readonly TranscribeOption[] => [
  ...(prompt !== undefined ? (['prompt'] as const) : []),
  ...(temperature !== undefined ? (['temperature'] as const) : []),
]

/** Transcripts by Deepgram. The whole answer stays in `native`. */
export default plugin({
  port: Upstream,
  name: 'deepgram',
  settings: v.strictObject({
    apiKey: v.pipe(v.string(), v.minLength(1)),
    baseUrl: v.optional(BaseUrl, 'https://api.deepgram.com/v1'),
    /** More parameters of every request. By default nothing that is heard may serve their training. */
    query: v.optional(v.record(v.string(), v.string()), { mip_opt_out: 'true' }),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: ({ fetch, clock }, { apiKey, baseUrl, query }, name): Upstream => {
    const headers = { authorization: `Token ${apiKey}` }

    return {
      name,

      async models(signal) {
        const answer = await fetch.upstream(`${baseUrl}/models`, { method: 'GET', headers, signal })
        const { stt } = await readObject(await accepted(answer, clock))
        if (!Array.isArray(stt)) throw garbled('No list of models')
        // Each stands there once a version and a set of languages.
        const ids = new Set(
          stt.filter(({ batch }) => batch !== false).map((model) => String(model.canonical_name ?? model.name)),
        )
        return [...ids].map((id): Model => ({ id, type: 'AUDIO_TRANSCRIPTION' }))
      },

      async transcribe(call, signal) {
        if (call.translate) throw new BadRequest('The model does not translate')
        const { mime, bytes } = call.audio
        const answer = await fetch.upstream(`${baseUrl}/listen?${queryOf(call, query)}`, {
          method: 'POST',
          headers: { ...headers, 'content-type': mime.replace(/[^\w!#$&^.+/;= -]/g, '') },
          body: bytes,
          signal,
        })
        const heard = transcriptOf(await readObject(await accepted(answer, clock)), call.language ?? null)
        return { ...heard, ignored: ignoredBy(call) }
      },
    }
  },
})
