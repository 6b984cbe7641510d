import * as v from 'valibot'
import { ModelName } from '../../../core/dialects/model-name.ts'
import { listOf } from '../../../core/validate.ts'
import { type TranscriptExtras, listenStyle } from '../listen-style.ts'
import type { Supplied } from '../../../core/container.ts'
import { secondsOf } from '../../../core/inference/metering/tokens.ts'
import { provenBy } from '../../../core/inference/proven.ts'
import type { Grant, SealedReply } from '../../../core/ports/enclave.ts'
import type { TranscribeOption, Transcript } from '../../../core/ports/upstream.ts'
import { textOf } from '../wire/bytes.ts'
import { Refusal } from './refusals.ts'
import { type chatNeeds, confidentialModel } from './chat.ts'
import type { OpenedRequest, Sealed } from './open.ts'
import { sealedReply } from './reply.ts'
import type { TellSpeakers } from './tell-speakers.ts'
import { toolParams } from './tool-params.ts'

const short = v.pipe(v.string(), v.maxLength(64))

/** The sealed parameters of both audio routes. */
export const AudioRequest = v.object({
  /** The model may stand outside the seal instead. */
  model: v.optional(ModelName),
  language: v.optional(short),
  detect_language: v.optional(v.boolean()),
  prompt: v.optional(v.string()),
  temperature: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  diarize: v.optional(v.boolean()),
  smart_format: v.optional(v.boolean()),
  punctuate: v.optional(v.boolean()),
  utterances: v.optional(v.boolean()),
  /** The answer has only one style; the field exists for clients that send it. */
  response_format: v.optional(short),
  timestamp_granularities: v.optional(listOf(v.picklist(['word', 'segment']), 0, 2)),
})

type TranscribeParams = v.InferOutput<typeof AudioRequest>

export interface Hearing {
  /** True for English text from any language. */
  readonly translate: boolean
  /** True when the model must be named inside the seal. */
  readonly requireBinding: boolean
  /** Null when this enclave cannot tell voices apart. */
  readonly tellSpeakers: TellSpeakers | null
}

/** Decrypted audio → transcription, in the style that clients read. */
export const transcribeSealed = async (
  opened: OpenedRequest,
  outer: Sealed,
  { translate, requireBinding, tellSpeakers }: Hearing,
  grant: Grant,
  { catalog, inference }: Supplied<typeof chatNeeds>,
  signal: AbortSignal,
): Promise<SealedReply> => {
  const { params, parts } = opened
  const wish = toolParams(AudioRequest, params)
  const file = nameOf(parts['encryptedFileName']!)
  const entry = await confidentialModel(catalog, grant, modelOf(wish, outer, requireBinding), 'transcribe', signal)
  const call = {
    audio: { name: file, mime: mimeOf(file), bytes: parts['encryptedFile']! },
    translate,
    ...optionsOf(wish),
  }
  const { answer, backend } = await inference.run(
    { entry, ability: 'transcribe' },
    ({ upstream, model }, signal) => upstream.transcribe({ ...call, model }, signal),
    signal,
  )
  const told = wish.diarize === true && !tells(answer) ? await diarized(answer, call.audio, tellSpeakers, signal) : null
  const aside = asideOf(wish, told ?? answer, told !== null)
  return sealedReply(opened, listenStyle(told ?? answer, entry.name, aside), {
    model: entry.name,
    backend,
    usage: null,
    audioSeconds: answer.duration ?? secondsOf(call.audio.bytes.length),
    ...provenBy(answer),
  })
}

/** The model named inside or outside the seal. When both are named, they must agree. */
const modelOf = ({ model }: TranscribeParams, outer: Sealed, requireBinding: boolean): string => {
  const beside = outer['model']
  const open = beside === undefined || beside === null || beside === '' ? null : v.safeParse(ModelName, beside).output
  const named = model ?? (requireBinding ? null : open)
  if (typeof named !== 'string' || (open !== null && open !== named)) throw new Refusal('invalid_parameters', 'model')
  return named
}

const optionsOf = (params: TranscribeParams) => ({
  diarize: params.diarize ?? false,
  smartFormat: params.smart_format ?? false,
  ...(params.language !== undefined && { language: params.language }),
  ...(params.detect_language !== undefined && { detectLanguage: params.detect_language }),
  ...(params.prompt !== undefined && { prompt: params.prompt }),
  ...(params.temperature !== undefined && { temperature: params.temperature }),
  ...(params.punctuate !== undefined && { punctuate: params.punctuate }),
  ...(params.utterances !== undefined && { utterances: params.utterances }),
  ...granularitiesOf(params),
})

/** Diarization needs the times of words, so a diarized request asks the backend for them. */
const granularitiesOf = ({ timestamp_granularities: kinds, diarize }: TranscribeParams) => {
  if (kinds !== undefined) return { granularities: kinds }
  return diarize === true ? { granularities: ['word', 'segment'] as const } : {}
}

/** True when the transcript names its speakers. An empty transcript has none to name. */
const tells = ({ text, segments, words }: Transcript): boolean =>
  text === '' || [...segments, ...words].some(({ speaker }) => speaker !== undefined)

/** Null when diarization is impossible: no times, no speaker tool, or a style of the backend's own. */
const diarized = async (
  answer: Transcript,
  file: { readonly name: string; readonly mime: string; readonly bytes: Uint8Array },
  tellSpeakers: TellSpeakers | null,
  signal: AbortSignal,
): Promise<Transcript | null> => {
  const timed = answer.native === undefined && answer.segments.length + answer.words.length > 0
  return timed && tellSpeakers !== null ? tellSpeakers(answer, file, signal) : null
}

const wireNames: Partial<Record<TranscribeOption, string>> = {
  smartFormat: 'smart_format',
  detectLanguage: 'detect_language',
  granularities: 'timestamp_granularities',
}

/** The `metadata` of the answer: the source of the speakers, and the options without effect. */
const asideOf = (wish: TranscribeParams, answer: Transcript, local: boolean): TranscriptExtras => {
  const unheard = (answer.ignored ?? [])
    .filter((option) => option !== 'diarize')
    .map((option) => wireNames[option] ?? option)
  const unanswered = unheard.filter((name) => (wish as Readonly<Record<string, unknown>>)[name] !== undefined)
  const ignored = wish.diarize === true && !tells(answer) ? ['diarize', ...unanswered] : unanswered
  return { ...(local && { diarization: 'local' }), ...(ignored.length > 0 && { ignored }) }
}

/** Throws for a name without characters, with control characters, or with a brace at its begin. */
const nameOf = (bytes: Uint8Array): string => {
  const name = decoded(bytes)
  const length = bytes.length
  if (name === null || length < 1 || length > 255 || /\p{Cc}/u.test(name) || name.startsWith('{')) {
    throw new Refusal('invalid_parameters', 'encryptedFileName')
  }
  return name
}

/** Null when the bytes are not UTF-8. */
const decoded = (bytes: Uint8Array): string | null => {
  try {
    return textOf(bytes)
  } catch {
    return null
  }
}

const mimes: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  mp4: 'audio/mp4',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  webm: 'audio/webm',
}

/** The ending decides, since the request names no type. */
const mimeOf = (name: string): string =>
  mimes[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
