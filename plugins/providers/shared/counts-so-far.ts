import { countedSoFar } from '../../../core/ports/chat.ts'
import type { Chunk, WireUsage } from '../../../core/ports/upstream.ts'

/** Counts of an answer that goes on; none where the prompt is not counted yet, as servers that count at the end tell. */
export const countsSoFar = (usage: WireUsage): Pick<Chunk, typeof countedSoFar> =>
  usage.prompt_tokens > 0 ? { [countedSoFar]: { ...usage, estimated: true } } : {}
