import * as v from 'valibot'
import { ModelName } from '../../../core/dialects/model-name.ts'
import { openaiError } from '../../shared/dialects/responses/error.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { type ServerEvent, bytes, events } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { tokensOf } from '../../../core/inference/metering/tokens.ts'
import type { Candidate } from '../../../core/inference/models/catalog-entry.ts'
import type { SpeakCall } from '../../../core/ports/upstream.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { anyProvider, membersBeyond, pinned } from './provider-field.ts'
import { askNeeds } from './chat-needs.ts'
import { settled } from './settle.ts'

const voice = v.pipe(v.string(), v.maxLength(128))

const fields = {
  model: ModelName,
  input: v.pipe(v.string(), v.minLength(1), v.maxLength(100_000)),
  voice: v.optional(v.union([voice, v.strictObject({ id: voice })])),
  instructions: v.optional(v.pipe(v.string(), v.maxLength(10_000))),
  response_format: v.optional(v.picklist(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])),
  speed: v.optional(v.pipe(v.number(), v.minValue(0.25), v.maxValue(4))),
  stream_format: v.nullish(v.picklist(['audio', 'sse'])),
  provider: anyProvider,
}

const wish = v.looseObject(fields)

/** Members that the schema does not name go to the backend as they are. */
const callOf = (input: v.InferOutput<typeof wish>): Omit<SpeakCall, 'model'> => ({
  text: input.input,
  ...(input.voice !== undefined && { voice: input.voice }),
  ...(input.instructions !== undefined && { instructions: input.instructions }),
  ...(input.response_format !== undefined && { format: input.response_format }),
  ...(input.speed !== undefined && { speed: input.speed }),
  extra: membersBeyond(input, fields),
})

/** The gateway charges characters where the model has a price for them, and tokens of the text elsewhere. */
export const speech = route({
  method: 'POST',
  path: '/std/audio/speech',
  summary: 'Speaks a text; the answer is an audio file, sent as it is spoken.',
  access: { scope: 'chats.completion' },
  body: { read: 'json', schema: wish, bytes: 1024 * 1024 },
  needs: askNeeds,
  async handle({ input, record, caller, signal }, { catalog, inference, meter }) {
    const entry = await servedModel(catalog, caller, input.model, 'speak', signal)
    const tokens = tokensOf(input.input)
    const reservation = await meter.reserve(
      caller,
      entry,
      { input: tokens, output: 0, characters: [...input.input].length },
      record,
    )
    const task = { entry, ability: 'speak', provider: pinned(input.provider), request: record.id } as const
    const { mime, size, parts } = await settled(
      reservation,
      inference.stream(task, speaking(callOf(input)), signal),
      () => null,
    )
    if (input.stream_format !== 'sse') return bytes(parts, mime, size, 200, reservation.headers)
    return events(told(parts, tokens), broken, null, reservation.headers)
  },
})

/** Of a backend that speaks in one piece, the size is known. */
const speaking =
  (call: Omit<SpeakCall, 'model'>) =>
  async ({ upstream, model }: Candidate<'speak'>, signal: AbortSignal) => {
    const begun = await upstream.streamSpeech?.({ ...call, model }, signal)
    if (begun !== undefined) return { ...begun, size: null }
    const { mime, bytes } = await upstream.speak({ ...call, model }, signal)
    return { mime, size: bytes.length, parts: whole(bytes) }
  }

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* told(parts: AsyncIterable<Uint8Array>, tokens: number): AsyncGenerator<ServerEvent> {
  for await (const part of parts) {
    const audio = Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('base64')
    yield { data: JSON.stringify({ type: 'speech.audio.delta', audio }) }
  }
  const usage = { input_tokens: tokens, output_tokens: 0, total_tokens: tokens }
  yield { data: JSON.stringify({ type: 'speech.audio.done', usage }) }
}

const broken = (error: GatewayError): ServerEvent => ({ data: JSON.stringify(openaiError(error)) })
