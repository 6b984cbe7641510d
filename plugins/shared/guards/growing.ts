import { type JsonObject, isJsonObject } from '../../../core/dialects/json-object.ts'
import type { ChunkChoice, ToolCallPart } from '../../../core/ports/upstream.ts'

export type Delta = ChunkChoice['delta']

/** A piece of a text that grows, under a name that all its pieces share. */
export interface Growing {
  readonly name: string
  readonly piece: string
}

/** Gives what takes the place of a piece. */
type Put = (piece: Growing) => string

/** Members of a delta that grow themselves. */
const members = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

const within = (owner: unknown, member: string, name: string, put: Put): unknown => {
  const piece = isJsonObject(owner) ? owner[member] : null
  return typeof piece === 'string' ? { ...(owner as JsonObject), [member]: put({ name, piece }) } : owner
}

const ofCall = (call: ToolCallPart & JsonObject, at: number, put: Put): ToolCallPart => {
  const name = `tool_calls ${call.index ?? at}`
  const { function: own, custom } = call
  return {
    ...call,
    ...(own != null && { function: within(own, 'arguments', `${name} arguments`, put) as JsonObject }),
    ...(custom != null && { custom: within(custom, 'input', `${name} input`, put) }),
  }
}

const ofThought = (detail: unknown, at: number, put: Put): unknown => {
  const name = `reasoning_details ${isJsonObject(detail) ? ((detail['index'] as number | undefined) ?? at) : at}`
  return within(within(detail, 'text', `${name} text`, put), 'summary', `${name} summary`, put)
}

/** The delta with other pieces in the places of those of texts that grow. Every other text of a delta is whole. */
export const withPieces = (delta: Delta, put: Put): Delta => {
  const next: Record<string, unknown> = { ...delta }
  for (const name of members) {
    const piece = delta[name]
    if (typeof piece === 'string') next[name] = put({ name, piece })
  }
  const { audio, function_call: call, reasoning_details: thoughts, tool_calls: calls } = delta
  if (call != null) next['function_call'] = within(call, 'arguments', 'function_call arguments', put)
  if (audio != null) next['audio'] = within(audio, 'transcript', 'audio', put)
  if (Array.isArray(thoughts)) next['reasoning_details'] = thoughts.map((detail, at) => ofThought(detail, at, put))
  if (calls != null) next['tool_calls'] = calls.map((call, at) => ofCall(call as ToolCallPart & JsonObject, at, put))
  return next
}

/** Whether the text under a name is the JSON of a tool's arguments. */
export const isArguments = (name: string): boolean => name.endsWith(' arguments')

/** A delta that has one piece alone. */
export const deltaOf = ({ name, piece }: Growing): Delta => {
  const [member = '', number, kind = ''] = name.split(' ')
  const index = Number(number)
  if (member === 'audio') return { audio: { transcript: piece } }
  if (member === 'function_call') return { [member]: { arguments: piece } }
  if (number === undefined) return { [member]: piece }
  if (member === 'reasoning_details') return { [member]: [{ type: `reasoning.${kind}`, index, [kind]: piece }] }
  return { tool_calls: [{ index, [kind === 'input' ? 'custom' : 'function']: { [kind]: piece } }] }
}

/** Members that tell what a piece belongs to. */
const belonging = new Set(['index', 'type'])

/** Whether a delta, or a part of it, tells nothing. */
export const isEmpty = (value: unknown): boolean =>
  value == null ||
  value === '' ||
  (typeof value === 'object' && Object.entries(value).every(([name, member]) => belonging.has(name) || isEmpty(member)))
