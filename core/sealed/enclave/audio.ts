import * as v from 'valibot'
import { ModelName } from '../../dialects/model-name.ts'
import { listOf } from '../../validate.ts'
import { listenStyle } from '../../dialects/listen-style.ts'
import type { Supplied } from '../../container.ts'
import { secondsOf } from '../../inference/metering/tokens.ts'
import type { Grant, SealedReply } from '../../ports/enclave.ts'
import { textOf } from '../wire/bytes.ts'
import { Refusal, parameters } from './refusals.ts'
import { type chatNeeds, confidential } from './chat.ts'
import type { Opened, Sealed } from './open.ts'
import { sealedReply } from './reply.ts'

const short = v.pipe(v.string(), v.maxLength(64))

/** The sealed parameters of both audio routes. */
export const AudioRequest = v.strictObject({
  model: ModelName,
  language: v.optional(short),
  prompt: v.optional(v.pipe(v.string(), v.maxLength(4096))),
  diarize: v.optional(v.boolean(), false),
  smart_format: v.optional(v.boolean(), false),
  /** The answer always has the one style; the field is taken for the sake of clients that send it. */
  response_format: v.optional(short),
  timestamp_granularities: v.optional(listOf(v.picklist(['word', 'segment']), 0, 2)),
})

/** Decrypted audio → transcription, in the one style that clients read. */
export const audio = async (
  opened: Opened,
  outer: Sealed,
  translate: boolean,
  grant: Grant,
  { catalog, inference }: Supplied<typeof chatNeeds>,
  signal: AbortSignal,
): Promise<SealedReply> => {
  const { params, parts } = opened
  const { model, language, prompt, diarize, smart_format, timestamp_granularities } = parameters(AudioRequest, params)
  if (outer['model'] !== undefined && String(outer['model']) !== model) throw new Refusal('invalid_parameters', 'model')
  const name = nameOf(parts['encryptedFileName']!)
  const entry = await confidential(catalog, grant, model, 'transcribe', signal)
  const call = {
    audio: { name, mime: mimeOf(name), bytes: parts['encryptedFile']! },
    translate,
    diarize,
    smartFormat: smart_format,
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
    ...(timestamp_granularities && { granularities: timestamp_granularities }),
  }
  const { answer, backend } = await inference.run(
    { entry, ability: 'transcribe' },
    ({ upstream, model }, signal) => upstream.transcribe!({ ...call, model }, signal),
    signal,
  )
  const seconds = answer.duration ?? secondsOf(call.audio.bytes.length)
  return sealedReply(opened, listenStyle(answer, entry.name), {
    model: entry.name,
    backend,
    usage: null,
    audioSeconds: seconds,
  })
}

const nameOf = (bytes: Uint8Array): string => {
  const name = decoded(bytes)
  const length = bytes.length
  if (name === null || length < 1 || length > 255 || /[\u0000-\u001f\u007f]/.test(name) || name.startsWith('{')) {
    throw new Refusal('invalid_parameters', 'encryptedFileName')
  }
  return name
}

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

const mimeOf = (name: string): string =>
  mimes[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
