import { usageOf } from '../../core/dialects/chat-completions.ts'
import type { Usage, WireUsage } from '../../core/ports/upstream.ts'

/** As the backend counted. What it did not count is guessed, a token for four characters; a guess of its own is the least. */
export const usedByChat = (input: number, told: WireUsage | null | undefined, characters: number): Usage => {
  const output = Math.ceil(characters / 4)
  const used = usageOf(told)
  if (used === null) return { input, output, estimated: true }
  return used.estimated === true ? { ...used, output: Math.max(used.output, output) } : used
}
