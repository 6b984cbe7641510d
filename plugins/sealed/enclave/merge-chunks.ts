import { isJsonObject } from '../../../core/dialects/json-object.ts'
import type { Chunk, ChunkChoice, ToolCallPart } from '../../../core/ports/upstream.ts'

/** Merges two chunks of one answer: appended fields are joined, single fields are kept. */
export const mergedChunk = (one: Chunk, other: Chunk): Chunk => {
  const choices = [...one.choices]
  for (const choice of other.choices) {
    const at = choices.findIndex(({ index }) => index === choice.index)
    const known = choices[at]
    if (known === undefined) choices.push(choice)
    else choices[at] = joined(known, choice)
  }
  return { ...one, ...other, id: one.id, created: one.created, choices, usage: other.usage ?? one.usage ?? null }
}

/** Texts and lists grow; the role, the index and other single values are the latest ones. */
const joined = (one: ChunkChoice, other: ChunkChoice): ChunkChoice => ({
  ...one,
  ...other,
  delta: joinedFields(one.delta, other.delta, (name) => name !== 'role'),
  finish_reason: other.finish_reason ?? one.finish_reason,
  ...((one.logprobs ?? other.logprobs) != null && { logprobs: listsOf(one.logprobs, other.logprobs) }),
})

/** Texts of calls and of sound, which come in pieces. Each chunk repeats any other text of theirs whole. */
const growing: ReadonlySet<string> = new Set(['arguments', 'input', 'data', 'transcript'])

/** Null and an empty text replace nothing: some backends repeat the members of a call so. */
const joinedFields = <T extends object>(one: T, other: T, grows: (name: string) => boolean): T => {
  const delta = { ...one } as Record<string, unknown>
  for (const [name, value] of fieldsOf(other)) {
    const before = delta[name]
    if (value == null || value === '') delta[name] = before ?? value
    else if (name === 'tool_calls')
      delta[name] = callsOf(before as readonly ToolCallPart[] | null, value as readonly ToolCallPart[])
    else if (grows(name) && typeof before === 'string' && typeof value === 'string') delta[name] = before + value
    else if (Array.isArray(before) && Array.isArray(value))
      delta[name] = [...(before as unknown[]), ...(value as unknown[])]
    else if (isJsonObject(before) && isJsonObject(value)) delta[name] = pieces(before, value)
    else delta[name] = value
  }
  return delta as T
}

const pieces = <T extends object>(one: T, other: T): T => joinedFields(one, other, (name) => growing.has(name))

/** Skips the name that would set the prototype of an object. */
const fieldsOf = (value: object): readonly (readonly [string, unknown])[] =>
  Object.entries(value).filter(([name]) => name !== '__proto__')

/** Parts with one index belong to one call, whose arguments grow piece by piece. */
const callsOf = (
  one: readonly ToolCallPart[] | null | undefined,
  other: readonly ToolCallPart[],
): readonly ToolCallPart[] => {
  const calls = [...(one ?? [])]
  for (const part of other) {
    const at = calls.findIndex(({ index }) => index === part.index)
    const before = calls[at]
    if (before === undefined) calls.push(part)
    else calls[at] = pieces(before, part)
  }
  return calls
}

/** The odds of tokens, whose lists grow with the text. */
const listsOf = (one: unknown, other: unknown): unknown => {
  const [before, after] = [one ?? {}, other ?? {}] as [Record<string, unknown>, Record<string, unknown>]
  const lists: Record<string, unknown> = { ...before }
  for (const [name, value] of fieldsOf(after)) {
    const had = lists[name]
    lists[name] = Array.isArray(had) && Array.isArray(value) ? [...had, ...value] : (value ?? had)
  }
  return lists
}
