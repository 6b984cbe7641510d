import type { Native, NativeEvents } from '../../../../core/ports/upstream.ts'
import { itemsIn, parseObject } from '../../backend.ts'
import type { EventSink } from '../../../../core/dialects/event.ts'
import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import type { Seal } from '../keepsake.ts'
import { renamed } from '../../../../core/dialects/model-name.ts'
import { memoryItemOf } from './memory.ts'

/** The stream of a backend of the same dialect, whose events go on as they came. */
export interface Relay {
  /** As the caller knows it. */
  readonly model: string
  readonly seal: Seal
  /** True for a caller that may refer to items by their ids alone. */
  readonly remembers: boolean
  /** The number of the next event. */
  sequence: number
  /** Items so far. */
  places: number
  /** The event with the whole response has gone. */
  ended: boolean
}

const ends = new Set(['response.completed', 'response.incomplete'])

/** The type of an event without a name. It need not come first, and members of the event have types too. */
const typeOf = (data: string): string =>
  /^\{"type":"([^"]+)"/.exec(data)?.[1] ?? String(parseObject(data)?.['type'] ?? '')

/** Adds the events, with the caller's name of the model in each that holds a response. */
export const relay = (relaying: Relay, events: NativeEvents['events'], into: EventSink): void => {
  for (const own of events) {
    const type = own.event ?? typeOf(own.data)
    relaying.sequence++
    if (type === 'response.output_item.added') relaying.places++
    if (!/^response\.(?:created|queued|in_progress|completed|incomplete)$/.test(type)) {
      into.push(own)
      continue
    }
    const event = parseObject(own.data) ?? {}
    const response = isJsonObject(event['response']) ? event['response'] : {}
    if (ends.has(type)) {
      relaying.ended = true
      if (relaying.remembers) return remember(relaying, { ...own, event: type }, response, into)
    }
    const data = renamed(own.data, 'model', response['model'], relaying.model)
    into.push({ ...own, data: data ?? JSON.stringify({ ...event, response: { ...response, model: relaying.model } }) })
  }
}

/** Ends the stream with an item more, under whose id the caller finds all others again. */
const remember = (
  relaying: Relay,
  { event: type }: { readonly event: string },
  response: JsonObject,
  into: EventSink,
): void => {
  const output = rememberedOutput(response, relaying.seal)
  relaying.sequence--
  const tell = (type: string, fields: JsonObject) =>
    void into.push({ event: type, data: JSON.stringify({ type, sequence_number: relaying.sequence++, ...fields }) })
  if (output.length > itemsIn(response['output']).length) {
    const place = { output_index: output.length - 1, item: output.at(-1) }
    tell('response.output_item.added', place)
    tell('response.output_item.done', place)
  }
  tell(type, { response: { ...response, model: relaying.model, output } })
}

const rememberedOutput = (response: JsonObject, seal: Seal): readonly JsonObject[] => {
  const output = itemsIn(response['output'])
  return output.some(({ type }) => type !== 'function_call') ? [...output, memoryItemOf(output, seal)] : output
}

/** The whole response of a backend of the same dialect, as far as it is not changed in its own words. */
export const relayedResponse = (
  { body }: Native,
  { model, seal, remembers }: Pick<Relay, 'model' | 'seal' | 'remembers'>,
): JsonObject => ({ ...body, model, output: remembers ? rememberedOutput(body, seal) : itemsIn(body['output']) })
