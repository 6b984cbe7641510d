import * as v from 'valibot'
import { checked, listOf } from '../validate.ts'
import type { Form, FormFile } from '../http/form.ts'
import { bytes, json, text, type Reply } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { Inference } from '../inference/inference.ts'
import { Catalog } from '../inference/models/catalog.ts'
import { Meter } from '../inference/metering/meter.ts'
import { secondsOf, tokensOf } from '../inference/metering/tokens.ts'
import type { Transcript } from '../ports/upstream.ts'
import { charged } from './settle.ts'
import { provider } from './provider-field.ts'
import { served } from './find-model.ts'
import { subtitles } from './subtitles.ts'

const formats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const

const transcription = v.object({
  model: v.string(),
  file: v.custom<FormFile>((it) => it !== undefined, 'an audio file'),
  language: v.optional(v.pipe(v.string(), v.maxLength(16))),
  prompt: v.optional(v.string()),
  temperature: v.optional(v.pipe(v.string(), v.transform(Number), v.number(), v.minValue(0), v.maxValue(1))),
  response_format: v.optional(v.picklist(formats), 'json'),
  granularities: v.optional(listOf(v.picklist(['word', 'segment']), 0, 2), []),
  provider,
})

const fieldsOf = ({ fields, files }: Form): v.InferOutput<typeof transcription> => {
  const first = (name: string) => fields.get(name)?.[0]
  return checked(transcription, {
    model: first('model'),
    file: files.get('file'),
    language: first('language'),
    prompt: first('prompt'),
    temperature: first('temperature'),
    response_format: first('response_format'),
    granularities: fields.get('timestamp_granularities[]') ?? fields.get('timestamp_granularities'),
    provider: first('provider'),
  })
}

const transcribe = route({
  method: 'POST',
  path: '/std/audio/transcriptions',
  summary: 'Writes down what is said in an audio file.',
  access: { scope: 'audio.transcription' },
  body: { read: 'form', schema: transcription, bytes: ({ bodies }) => bodies.audio, check: fieldsOf },
  needs: { catalog: Catalog, inference: Inference, meter: Meter },
  async handle({ input, caller, signal }, { catalog, inference, meter }) {
    const { file, language, prompt, temperature, granularities, provider } = input
    const entry = await served(catalog, caller, input.model, 'transcribe', signal)
    const reservation = await meter.spendAudio(caller, entry, Math.ceil(secondsOf(file.bytes.length)))
    const answer = await charged(
      reservation,
      inference.run(
        { entry, ability: 'transcribe', provider: provider ?? null },
        ({ upstream, model }, signal) =>
          upstream.transcribe!(
            {
              model,
              audio: file,
              granularities,
              ...(language !== undefined && { language }),
              ...(prompt !== undefined && { prompt }),
              ...(temperature !== undefined && { temperature }),
            },
            signal,
          ),
        signal,
      ),
      ({ duration }) => duration,
    )
    return written(answer, input.response_format)
  },
})

const written = (it: Transcript, format: (typeof formats)[number]): Reply => {
  switch (format) {
    case 'json':
      return json({ text: it.text })
    case 'text':
      return text(`${it.text}\n`, 'text/plain; charset=utf-8')
    case 'srt':
      return text(subtitles(it, 'srt'), 'application/x-subrip; charset=utf-8')
    case 'vtt':
      return text(subtitles(it, 'vtt'), 'text/vtt; charset=utf-8')
    case 'verbose_json':
      return json({
        task: 'transcribe',
        language: it.language ?? '',
        duration: it.duration ?? it.segments.at(-1)?.end ?? 0,
        text: it.text,
        segments: it.segments.map(({ text, start, end, speaker }, id) => ({
          id,
          start,
          end,
          text,
          ...(speaker !== undefined && { speaker }),
        })),
        words: it.words.map(({ text, start, end }) => ({ word: text, start, end })),
      })
  }
}

const speech = v.object({
  model: v.string(),
  input: v.pipe(v.string(), v.minLength(1), v.maxLength(100_000)),
  voice: v.optional(v.pipe(v.string(), v.maxLength(128))),
  instructions: v.optional(v.pipe(v.string(), v.maxLength(10_000))),
  response_format: v.optional(v.picklist(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])),
  speed: v.optional(v.pipe(v.number(), v.minValue(0.25), v.maxValue(4))),
  provider,
})

const speak = route({
  method: 'POST',
  path: '/std/audio/speech',
  summary: 'Speaks a text; the answer is an audio file.',
  access: { scope: 'chats.completion' },
  body: { read: 'json', schema: speech, bytes: 1024 * 1024 },
  needs: { catalog: Catalog, inference: Inference, meter: Meter },
  async handle({ input, caller, signal }, { catalog, inference, meter }) {
    const { voice, instructions, speed, response_format: format } = input
    const entry = await served(catalog, caller, input.model, 'speak', signal)
    const reservation = await meter.reserve(caller, entry, {
      input: tokensOf(input.input),
      output: 0,
      characters: [...input.input].length,
    })
    const answer = await charged(
      reservation,
      inference.run(
        { entry, ability: 'speak', provider: input.provider ?? null },
        ({ upstream, model }, signal) =>
          upstream.speak!(
            {
              model,
              text: input.input,
              ...(voice !== undefined && { voice }),
              ...(instructions !== undefined && { instructions }),
              ...(format !== undefined && { format }),
              ...(speed !== undefined && { speed }),
            },
            signal,
          ),
        signal,
      ),
      () => null,
    )
    return bytes(whole(answer.bytes), answer.mime, answer.bytes.length, 200, reservation.headers)
  },
})

async function* whole(bytes: Uint8Array) {
  yield bytes
}

export const audio = [transcribe, speak] as const
