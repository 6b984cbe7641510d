import * as v from 'valibot'
import { ModelName } from '../../../core/dialects/model-name.ts'
import { formats } from '../../shared/transcript-names.ts'
import { openaiError } from '../../shared/dialects/responses/error.ts'
import { BadRequest, type GatewayError } from '../../../core/errors.ts'
import type { Form, FormFile } from '../../../core/http/form.ts'
import { type Reply, type ServerEvent, events, text as written } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import type { Inference, Task } from '../../../core/inference/inference.ts'
import type { Candidate } from '../../../core/inference/models/catalog-entry.ts'
import type { Reservation } from '../../../core/inference/metering/meter.ts'
import { secondsOf } from '../../../core/inference/metering/tokens.ts'
import type { TranscribeCall, TranscriptEvent } from '../../../core/ports/upstream.ts'
import { lazy } from '../../../core/plugin.ts'
import { checked, listOf } from '../../../core/validate.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { provider } from './provider-field.ts'
import { askNeeds } from './chat-needs.ts'
import { settled } from './settle.ts'
import { fieldsOf, flag, others } from './form-fields.ts'

const printing = lazy(() => import('../../shared/transcript-formats.ts'))
const telling = lazy(() => import('../../shared/transcript-events.ts'))

const wish = v.object({
  model: ModelName,
  file: v.custom<FormFile>((value) => value !== undefined, 'an audio file'),
  language: v.optional(v.pipe(v.string(), v.maxLength(16))),
  prompt: v.optional(v.string()),
  temperature: v.optional(v.pipe(v.string(), v.transform(Number), v.number(), v.minValue(0), v.maxValue(1))),
  response_format: v.optional(v.picklist(formats), 'json'),
  granularities: v.optional(listOf(v.picklist(['word', 'segment']), 0, 2), []),
  stream: flag,
  provider,
  extra: v.array(v.tuple([v.string(), v.string()])),
})

/** The fields as they are sent. */
const sent = v.looseObject({
  model: v.string(),
  file: v.string(),
  language: v.optional(v.string()),
  prompt: v.optional(v.string()),
  temperature: v.optional(v.string()),
  response_format: v.optional(v.picklist(formats), 'json'),
  timestamp_granularities: v.optional(v.array(v.picklist(['word', 'segment']))),
  stream: v.optional(v.picklist(['true', 'false'])),
  provider: v.optional(v.string()),
})

type TranscriptionForm = v.InferOutput<typeof wish>

const own = ['model', 'language', 'prompt', 'temperature', 'response_format', 'stream', 'provider'] as const
/** Clients spell the name with and without brackets. */
const granular = ['timestamp_granularities[]', 'timestamp_granularities'] as const

const wishOf = (form: Form): TranscriptionForm =>
  checked(wish, {
    ...fieldsOf(form, own),
    file: form.files.get('file'),
    granularities: granular.map((name) => form.fields.get(name)).find((value) => value !== undefined),
    extra: others(form, [...own, ...granular]),
  })

const callOf = (body: TranscriptionForm, translate: boolean): Omit<TranscribeCall, 'model'> => ({
  audio: body.file,
  translate,
  granularities: body.granularities,
  extra: body.extra,
  ...(body.response_format === 'diarized_json' && { diarize: true }),
  ...(body.language !== undefined && { language: body.language }),
  ...(body.prompt !== undefined && { prompt: body.prompt }),
  ...(body.temperature !== undefined && { temperature: body.temperature }),
})

const transcribing = (verb: 'transcriptions' | 'translations', summary: string) =>
  route({
    method: 'POST',
    path: `/std/audio/${verb}`,
    summary,
    access: { scope: verb === 'translations' ? 'audio.translation' : 'audio.transcription' },
    body: { read: 'form', schema: wish, form: sent, bytes: ({ bodies }) => bodies.audio, check: wishOf },
    needs: askNeeds,
    async handle({ input, record, caller, signal }, { catalog, inference, meter }) {
      const { file, stream, response_format: format } = input
      if (stream && format !== 'json' && format !== 'diarized_json') {
        throw new BadRequest('Validation failed', { validator: { stream: 'Expected false with this response_format' } })
      }
      const entry = await servedModel(catalog, caller, input.model, 'transcribe', signal)
      const reservation = await meter.spendAudio(caller, entry, Math.ceil(secondsOf(file.bytes.length)), record)
      const call = callOf(input, verb === 'translations')
      const { id: request } = record
      const task: Task<'transcribe'> = { entry, ability: 'transcribe', provider: input.provider ?? null, request }
      if (stream) return streamed(task, call, inference, reservation, signal)
      const answer = await settled(
        reservation,
        inference.run(task, ({ upstream, model }, signal) => upstream.transcribe({ ...call, model }, signal), signal),
        ({ duration }) => duration,
      )
      const { printTranscript, tellsSpeakers } = await printing()
      if (format === 'diarized_json' && answer.text !== '' && !tellsSpeakers(answer)) {
        throw (await telling()).speakerless()
      }
      const printed = printTranscript(answer, format, verb === 'translations' ? 'translate' : 'transcribe')
      return written(printed.text, printed.type)
    },
  })

/** A backend without events of its own gives the whole transcript at once. */
const listening =
  (call: Omit<TranscribeCall, 'model'>) =>
  async ({ upstream, model }: Candidate<'transcribe'>, signal: AbortSignal) => {
    const streamed = upstream.streamTranscript?.({ ...call, model }, signal)
    if (streamed !== undefined) return streamed
    const { transcriptEvents } = await telling()
    return { parts: each(transcriptEvents(await upstream.transcribe({ ...call, model }, signal), call)) }
  }

async function* each<T>(all: readonly T[]): AsyncGenerator<T> {
  yield* all
}

const streamed = (
  task: Task<'transcribe'>,
  call: Omit<TranscribeCall, 'model'>,
  inference: Inference,
  reservation: Reservation<number>,
  signal: AbortSignal,
): Reply => {
  async function* told(): AsyncGenerator<ServerEvent> {
    let backend: string | null = null
    let by: string | undefined
    let seconds: number | null = null
    try {
      const begun = await inference.stream(task, listening(call), signal)
      backend = begun.backend
      by = begun.by
      for await (const event of begun.answer.parts) {
        seconds = secondsIn(event) ?? seconds
        yield { data: JSON.stringify(event) }
      }
    } finally {
      void reservation.settle(seconds, backend, by)
    }
  }
  const broken = (error: GatewayError) => ({ data: JSON.stringify(openaiError(error)) })
  return events(told(), broken, () => ({ comment: 'waiting' }), reservation.headers)
}

/** Null where the event does not tell how long the sound is. */
const secondsIn = ({ usage }: TranscriptEvent): number | null => {
  const { seconds } = (usage ?? {}) as { readonly seconds?: unknown }
  return Number.isFinite(seconds) && (seconds as number) >= 0 ? (seconds as number) : null
}

/**
 * The allowance takes a guess from the bytes of the file, and the backend's length of the sound corrects it.
 */
export const transcriptions = transcribing('transcriptions', 'Writes down what is said in an audio file.')
/** The same with a scope of its own: the backend writes English, whatever language is spoken. */
export const translations = transcribing('translations', 'Writes down in English what is said in an audio file.')
