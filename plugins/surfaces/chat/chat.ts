import { chatCall } from '../shared/chat.ts'
import { printChunk, withWholeDeltas } from '../../../core/dialects/chat-completions.ts'

const completions = chatCall((chunk, model) => printChunk(withWholeDeltas(chunk), model))

/** The chat calls of this chapter. Other dialects are surfaces with routes of their own. */
export const chatRoutes = [completions] as const
