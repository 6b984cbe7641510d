import type { Chunk } from '../../../core/ports/upstream.ts'
import { chatCall } from '../shared/chat.ts'
import { printChunk } from '../../../core/dialects/chat-completions.ts'
import { withAllKeys } from '../../shared/repeated-chunks.ts'

/** The chunk with whole deltas; that of an end stays as it is. */
const withWholeDeltas = (chunk: Chunk): Chunk => ({
  ...chunk,
  choices: chunk.choices.map((choice) =>
    choice.finish_reason == null ? { ...choice, delta: withAllKeys(choice.delta) } : choice,
  ),
})

const completions = chatCall((chunk, model) => printChunk(withWholeDeltas(chunk), model))

/** The chat calls of this chapter. Other dialects are surfaces with routes of their own. */
export const chatRoutes = [completions] as const
