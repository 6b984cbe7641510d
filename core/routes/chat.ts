import { chatCall } from '../calls/chat.ts'
import { printChunk, withWholeDeltas } from '../dialects/chat-completions.ts'

const completions = chatCall((chunk, model) => printChunk(withWholeDeltas(chunk), model))

export const chatRoutes = [completions] as const
