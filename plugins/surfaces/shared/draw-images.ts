import * as v from 'valibot'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { lazy } from '../../../core/plugin.ts'
import { openaiError } from '../../shared/dialects/responses/error.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { type Reply, type ServerEvent, events, text } from '../../../core/http/reply.ts'
import type { Inference, Task } from '../../../core/inference/inference.ts'
import type { Reservation } from '../../../core/inference/metering/meter.ts'
import type { Consumption } from '../../../core/inference/metering/consumption.ts'
import type { Candidate } from '../../../core/inference/models/catalog-entry.ts'
import { Clock } from '../../../core/ports/platform.ts'
import type { Drawn, Picture, Usage } from '../../../core/ports/upstream.ts'
import { askNeeds } from './chat-needs.ts'
import { settled } from './settle.ts'

/** The needs of every route that draws; the clock tells the `created` of answers. */
export const drawNeeds = { ...askNeeds, clock: Clock }

/** Images of one call. */
export const countShape = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10))
/** Pixels. Which sizes a model takes is for its backend to say. */
export const sizeShape = v.pipe(v.string(), v.regex(/^(auto|\d{2,5}x\d{2,5})$/, 'auto, or a size such as 1024x1024'))
/** Either base64 in JSON, or a data URL. */
export const formatShape = v.picklist(['b64_json', 'url'])

type Format = v.InferOutput<typeof formatShape>

interface Drawing {
  readonly task: Task<'draw'>
  readonly reservation: Reservation<Consumption>
  /** Tokens, where the backend does not count them. */
  readonly guess: Usage
  readonly format: Format
  /** As events, of which there are no partial images. */
  readonly stream: boolean
  readonly kind: 'image_generation' | 'image_edit'
  ask(candidate: Candidate<'draw'>, signal: AbortSignal): Promise<Drawn>
}

/** The images as one answer, or each as an event; the words beside them are the backend's. */
export const drawImages = async (
  drawing: Drawing,
  { inference, clock }: { readonly inference: Inference; readonly clock: Clock },
  signal: AbortSignal,
): Promise<Reply> => {
  const { task, reservation, guess, format, kind } = drawing
  // A filter may leave out images that were wanted.
  const countOf = (drawn: Drawn): Consumption => ({ ...(usageOf(drawn) ?? guess), images: drawn.length })
  const draw = () => settled(reservation, inference.run(task, drawing.ask, signal), countOf)
  const created = () => Math.floor(clock.now() / 1000)
  if (drawing.stream) return events(completed(draw, kind, created), broken, waiting, reservation.headers)
  const drawn = await draw()
  return text(await printed(drawn, format, created()), undefined, 200, reservation.headers)
}

/** Ten images of a camera's size are 50 MB of base64, which are printed in turns of the loop. */
const printed = async (drawn: Drawn, format: Format, created: number): Promise<string | Uint8Array> => {
  const data: object[] = []
  for (const picture of drawn) {
    if (picture.bytes.length > atOnceBytes) await freeTurn()
    data.push({ ...carried(picture, format), ...revised(picture) })
  }
  const { printJson } = await printing()
  return printJson({ created, data, ...drawn.about })
}

const printing = lazy(() => import('../../shared/print-json.ts'))

/** Bytes of an image that has a turn of its own. */
const atOnceBytes = 256 * 1024

const revised = ({ revisedPrompt }: Picture) => (revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt })

const textOf = ({ bytes }: Picture): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

/** Nothing is stored here, so a link can only be one that carries the image. */
const carried = (picture: Picture, format: Format) =>
  format === 'url' ? { url: `data:${picture.mime};base64,${textOf(picture)}` } : { b64_json: textOf(picture) }

async function* completed(
  draw: () => Promise<Drawn>,
  kind: Drawing['kind'],
  created: () => number,
): AsyncGenerator<ServerEvent> {
  const drawn = await draw()
  const type = `${kind}.completed`
  for (const picture of drawn) {
    const shown = { type, b64_json: textOf(picture), created_at: created(), ...revised(picture), ...drawn.about }
    yield { event: type, data: JSON.stringify(shown) }
  }
}

const broken = (error: GatewayError): ServerEvent => ({ event: 'error', data: JSON.stringify(openaiError(error)) })

const waiting = (): ServerEvent => ({ comment: 'waiting' })

/** Null where the backend did not count tokens. */
const usageOf = ({ about }: Drawn): Usage | null => {
  const { input_tokens: input, output_tokens: output } = (about?.['usage'] ?? {}) as Readonly<Record<string, unknown>>
  return isCount(input) && isCount(output) ? { input, output } : null
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
