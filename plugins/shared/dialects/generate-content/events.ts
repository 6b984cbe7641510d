import { print } from '../../../../core/dialects/json.ts'
import type {
  Chunk,
  ChunkChoice,
  Completion,
  Message,
  Native,
  ToolCallPart,
  WireUsage,
} from '../../../../core/ports/upstream.ts'
import { garbled, parseObject } from '../../backend.ts'
import type { EventSink } from '../../../../core/dialects/event.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import type { Seal } from '../keepsake.ts'
import { wholeCalls } from '../whole-calls.ts'
import { wholeDelta } from '../whole-delta.ts'
import { renamed } from '../../../../core/dialects/model-name.ts'
import { endingOf, imagesOf, reasonOf, usageOf } from './answer.ts'

/** The state of a candidate that the stream reports only at its end. */
interface Candidate {
  readonly calls: Map<number, { id: string; name: string; json: string; more: JsonObject }>
  readonly blocks: unknown[]
  readonly outline: unknown[]
  thoughts: string
  extra: unknown
  finish: string | null
  native: unknown
}

/** What the writer of one answer has to know of the request. */
export interface ContentToWrite {
  /** As the caller knows it. */
  readonly model: string
  readonly seal: Seal
  /** True when the caller wants the thoughts. */
  readonly thinks: boolean
}

/** The state of one answer. */
interface Writing extends ContentToWrite {
  readonly candidates: Map<number, Candidate>
  usage: WireUsage | null
  responseId: string
  /** The pieces go on as they came, the last one too. */
  relays: boolean
  /** The last chunk has thoughts, which are kept for their signature. */
  thought: boolean
}

/** Chunks as pieces of an answer: text as it comes, calls and reasons at the end. */
export const generateEvents = (content: ContentToWrite) => {
  const { model, seal, thinks } = content
  const writing: Writing = {
    model,
    seal,
    thinks,
    candidates: new Map(),
    usage: null,
    responseId: '',
    relays: false,
    thought: false,
  }
  return {
    take(chunk: Chunk, into: EventSink): void {
      if (chunk.native?.dialect === 'generate-content') {
        writing.relays = true
        for (const own of chunk.native.events) into.push({ ...own, data: underOurName(own.data, model) })
        return
      }
      writing.responseId = chunk.id
      writing.thought = chunk.choices.some(({ delta }) => delta.reasoning_content)
      if (chunk.usage != null) writing.usage = chunk.usage
      const told = chunk.choices
        .map((choice) => ({ content: { parts: partsOf(writing, choice), role: 'model' }, index: choice.index }))
        .filter(({ content }) => content.parts.length > 0)
      if (told.length === 0) return
      const piece = { candidates: told, modelVersion: model, responseId: writing.responseId }
      into.push({ data: JSON.stringify(piece) })
    },

    again: (): boolean => !writing.relays && !writing.thought,

    end(into: EventSink): void {
      if (!writing.relays) into.push({ data: print(last(writing)) })
    },

    whole({ id, usage, choices }: Completion, native?: Native): JsonObject {
      if (native?.dialect === 'generate-content') return { ...native.body, modelVersion: model }
      writing.responseId = id
      writing.usage = usage ?? null
      const parts = new Map<number, readonly JsonObject[]>()
      for (const { index, message, finish_reason, native_finish_reason } of choices)
        parts.set(index, partsOf(writing, { index, delta: wholeDelta(message), finish_reason, native_finish_reason }))
      return last(writing, parts)
    },
  }
}

const candidateAt = ({ candidates }: Writing, index: number): Candidate => {
  let candidate = candidates.get(index)
  if (candidate === undefined) {
    candidate = {
      calls: new Map(),
      blocks: [],
      outline: [],
      thoughts: '',
      extra: undefined,
      finish: null,
      native: undefined,
    }
    candidates.set(index, candidate)
  }
  return candidate
}

const partsOf = (writing: Writing, choice: ChunkChoice): readonly JsonObject[] => {
  const { index, delta, finish_reason, native_finish_reason } = choice
  const candidate = candidateAt(writing, index)
  const { content, reasoning_content, thinking_blocks, response_items, extra_content, refusal, images } = delta
  if (finish_reason !== null) {
    candidate.finish = finish_reason
    candidate.native = native_finish_reason
  }
  if (Array.isArray(thinking_blocks)) candidate.blocks.push(...thinking_blocks)
  if (Array.isArray(response_items)) candidate.outline.push(...response_items)
  if (extra_content != null) candidate.extra = extra_content
  candidate.thoughts += reasoning_content ?? ''
  for (const [at, call] of (delta.tool_calls ?? []).entries()) grow(candidate, call, at)
  const parts: JsonObject[] = writing.thinks && reasoning_content ? [{ text: reasoning_content, thought: true }] : []
  for (const text of [content, refusal]) if (typeof text === 'string' && text !== '') parts.push({ text })
  for (const image of imagesOf(images)) parts.push(image)
  return parts
}

const grow = ({ calls }: Candidate, { index, id, function: called, type: _, ...more }: ToolCallPart, at: number) => {
  const number = index ?? at
  const call = calls.get(number)
  if (call !== undefined) call.json += called?.arguments ?? ''
  else if (called?.name === undefined) throw garbled('A piece of a call that has not begun')
  else calls.set(number, { id: id ?? `call_${number}`, name: called.name, json: called.arguments ?? '', more })
}

const ending = ({ calls, blocks, outline, thoughts, extra, finish }: Candidate, seal: Seal): readonly JsonObject[] => {
  const made = [...calls.values()].map(({ id, name, json, more }) => ({
    ...more,
    id,
    type: 'function',
    function: { name, arguments: json },
  }))
  const message: Message = {
    role: 'assistant',
    ...(thoughts !== '' && { reasoning_content: thoughts }),
    ...(blocks.length > 0 && { thinking_blocks: blocks }),
    ...(outline.length > 0 && { response_items: outline }),
    ...(extra !== undefined && { extra_content: extra }),
    tool_calls: wholeCalls(made, finish),
  }
  return endingOf(message, seal)
}

/** What the vendor ends a text with: its clients forget a turn of which one piece has no part. */
const emptyText = [{ text: '' }]

/** The last piece; `before` has the parts of each candidate that no earlier piece has. */
const last = (writing: Writing, before: ReadonlyMap<number, readonly JsonObject[]> = new Map()): JsonObject => {
  const candidates: JsonObject[] = []
  for (const [index, candidate] of writing.candidates) {
    const parts = [...(before.get(index) ?? []), ...ending(candidate, writing.seal)]
    const finishReason = reasonOf(candidate.finish, candidate.native)
    candidates.push({ content: { parts: parts.length > 0 ? parts : emptyText, role: 'model' }, finishReason, index })
  }
  const { model, responseId, usage } = writing
  const named = { modelVersion: model, responseId }
  return usage === null ? { candidates, ...named } : { candidates, usageMetadata: usageOf(usage), ...named }
}

/** A piece of the dialect, with the name by which the caller knows the model. */
const underOurName = (data: string, model: string): string => {
  const piece = parseObject(data) ?? {}
  if (piece['modelVersion'] === undefined) return data
  return (
    renamed(data, 'modelVersion', piece['modelVersion'], model) ?? JSON.stringify({ ...piece, modelVersion: model })
  )
}
