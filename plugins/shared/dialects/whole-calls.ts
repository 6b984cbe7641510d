import type { ToolCall } from '../../../core/ports/upstream.ts'
import { parseObject } from '../backend.ts'

/** The calls of an answer, without a last one whose arguments the limit of tokens has cut. */
export const wholeCalls = (
  calls: readonly ToolCall[] | null | undefined,
  finish: string | null,
): readonly ToolCall[] => {
  const last = calls?.at(-1)
  if (calls == null || last === undefined) return []
  return finish === 'length' && parseObject(last.function.arguments) === null ? calls.slice(0, -1) : calls
}
