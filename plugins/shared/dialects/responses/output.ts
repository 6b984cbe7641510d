import type { EventSink } from '../../../../core/dialects/event.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { keepTexts } from '../../../../core/dialects/json-text.ts'
import { printKeepsake, type Keepsake, type Seal } from '../keepsake.ts'
import type { Known } from './namespaces.ts'

/** The sink of events; null when only the finished response is wanted. */
export type EventReceiver = EventSink | null

/** The writer of events, which numbers them and collects the finished items. */
export interface ResponseEvents {
  readonly seal: Seal
  /** A fresh id. */
  id(kind: string): string
  event(into: EventReceiver, type: string, fields: JsonObject): void
  /** Begins an item: its place in the output. */
  add(into: EventReceiver, item: JsonObject): number
  /** Ends an item. */
  finish(into: EventReceiver, at: number, item: JsonObject): void
}

/** How an item ends: what the limit of tokens or a filter has cut is incomplete. */
export type ItemEnd = 'completed' | 'incomplete'

const messageOf = (id: string, status: string, content: readonly JsonObject[]): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  status,
  content,
})

/** The odds of a text. They are long, and the end of a stream tells them four times: each is printed once. */
const oddsToTell = () => {
  const list: unknown[] = []
  let printed = ''
  return {
    list,
    add(logprobs: readonly unknown[], prints: boolean): void {
      for (const odd of logprobs) list.push(odd)
      if (!prints) return
      if (printed === '') keepTexts({ list }, new Map([['list', () => `[${printed}]`]]))
      const text = JSON.stringify(logprobs)
      keepTexts({ logprobs }, new Map([['logprobs', () => text]]))
      printed += `${printed === '' ? '' : ','}${text.slice(1, -1)}`
    },
  }
}

/** A part of a message before its first piece. */
const emptyPart = () => ({ text: '', odds: oddsToTell(), annotations: [] as unknown[] })

/** A message that grows: a text and a refusal are parts of their own, one after the other. */
export const messageItem = (tell: ResponseEvents, into: EventReceiver) => {
  const item_id = tell.id('msg')
  const output_index = tell.add(into, messageOf(item_id, 'in_progress', []))
  const parts: JsonObject[] = []
  let kind: 'output_text' | 'refusal' | null = null
  let grown = emptyPart()

  const place = () => ({ item_id, output_index, content_index: parts.length })
  const part = ({ text, annotations, odds } = grown) =>
    kind === 'refusal' ? { type: kind, refusal: text } : { type: kind, text, annotations, logprobs: odds.list }

  const end = (into: EventReceiver): void => {
    if (kind === null) return
    const { text, odds } = grown
    if (kind === 'refusal') tell.event(into, 'response.refusal.done', { ...place(), refusal: text })
    else tell.event(into, 'response.output_text.done', { ...place(), text, logprobs: odds.list })
    const done = part()
    tell.event(into, 'response.content_part.done', { ...place(), part: done })
    parts.push(done)
    kind = null
  }

  const begin = (into: EventReceiver, wanted: 'output_text' | 'refusal'): void => {
    if (kind === wanted) return
    end(into)
    kind = wanted
    grown = emptyPart()
    tell.event(into, 'response.content_part.added', { ...place(), part: part() })
  }

  return {
    say(into: EventReceiver, delta: string, logprobs: readonly unknown[] = []): void {
      begin(into, 'output_text')
      grown.text += delta
      if (logprobs.length > 0) grown.odds.add(logprobs, into !== null)
      tell.event(into, 'response.output_text.delta', { ...place(), delta, logprobs })
    },
    /** Takes a piece whose event is written elsewhere; false where the piece is no part of the text that grows. */
    again(delta: string): boolean {
      if (kind !== 'output_text') return false
      grown.text += delta
      return true
    },
    refuse(into: EventReceiver, delta: string): void {
      begin(into, 'refusal')
      grown.text += delta
      tell.event(into, 'response.refusal.delta', { ...place(), delta })
    },
    annotate(into: EventReceiver, annotation: unknown): void {
      begin(into, 'output_text')
      const annotation_index = grown.annotations.push(annotation) - 1
      tell.event(into, 'response.output_text.annotation.added', { ...place(), annotation_index, annotation })
    },
    close(into: EventReceiver, status: ItemEnd): void {
      end(into)
      tell.finish(into, output_index, messageOf(item_id, status, parts))
    },
  }
}

/** Thoughts, with the keepsake for the next turn. */
export const reasoningItem = (tell: ResponseEvents, into: EventReceiver) => {
  const id = tell.id('rs')
  const head = { id, type: 'reasoning' }
  const output_index = tell.add(into, { ...head, summary: [] })
  const place = { item_id: id, output_index, summary_index: 0 }
  const thoughts: unknown[] = []
  const items: unknown[] = []
  const calls: Record<string, unknown> = {}
  let extra: unknown
  let text: string | null = null

  const keepsake = (): Keepsake => ({
    ...(thoughts.length > 0 ? { thoughts } : text !== null && { reasoning: text }),
    ...(items.length > 0 && { items }),
    ...(extra !== undefined && { extra }),
    ...(Object.keys(calls).length > 0 && { calls }),
  })

  return {
    think(into: EventReceiver, delta: string): void {
      if (text === null) {
        const part = { type: 'summary_text', text: '' }
        tell.event(into, 'response.reasoning_summary_part.added', { ...place, part })
      }
      text = (text ?? '') + delta
      tell.event(into, 'response.reasoning_summary_text.delta', { ...place, delta })
    },
    /** Takes a piece whose event is written elsewhere; false where no thought has begun. */
    again(delta: string): boolean {
      if (text === null) return false
      text += delta
      return true
    },
    sign(blocks: readonly unknown[]): void {
      for (const block of blocks) thoughts.push(block)
    },
    outline(entries: readonly unknown[]): void {
      for (const entry of entries) items.push(entry)
    },
    keep: (kept: unknown): void => void (extra = kept),
    keepFor: (call: string, kept: unknown): void => void (calls[call] = kept),
    close(into: EventReceiver): void {
      const summary = text === null ? [] : [{ type: 'summary_text', text }]
      if (text !== null) {
        tell.event(into, 'response.reasoning_summary_text.done', { ...place, text })
        tell.event(into, 'response.reasoning_summary_part.done', { ...place, part: summary[0] })
      }
      tell.finish(into, output_index, { ...head, summary, encrypted_content: printKeepsake(keepsake(), tell.seal) })
    },
  }
}

/** A call of a tool, under the name that the caller gave it. The text of a custom tool is free, or an argument of JSON. */
export const callItem = (
  tell: ResponseEvents,
  into: EventReceiver,
  call_id: string,
  { name, namespace, custom }: Known,
  isFree = false,
) => {
  const id = tell.id(custom ? 'ctc' : 'fc')
  const type = custom ? 'custom_tool_call' : 'function_call'
  const head = { id, type, call_id, name, ...(namespace !== null && { namespace }) }
  const under = custom ? 'input' : 'arguments'
  const output_index = tell.add(into, { ...head, status: 'in_progress', [under]: '' })
  const place = { item_id: id, output_index }
  let json = ''

  return {
    grow(into: EventReceiver, delta: string): void {
      json += delta
      if (!custom && delta !== '') tell.event(into, 'response.function_call_arguments.delta', { ...place, delta })
    },
    close(into: EventReceiver, status: ItemEnd): void {
      if (custom) {
        const input = isFree ? json : freeText(json)
        tell.event(into, 'response.custom_tool_call_input.delta', { ...place, delta: input })
        tell.event(into, 'response.custom_tool_call_input.done', { ...place, input })
        return tell.finish(into, output_index, { ...head, status, input })
      }
      const args = json === '' ? '{}' : json
      tell.event(into, 'response.function_call_arguments.done', { ...place, name, arguments: args })
      tell.finish(into, output_index, { ...head, status, arguments: args })
    },
  }
}

/** The argument alone; arguments of another shape stay as the model gave them. */
const freeText = (json: string): string => {
  try {
    const { input } = JSON.parse(json)
    return typeof input === 'string' ? input : json
  } catch {
    return json
  }
}
