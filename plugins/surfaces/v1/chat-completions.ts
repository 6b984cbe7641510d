import { chatCall } from '../shared/chat.ts'
import { printChunk } from '../../../core/dialects/chat-completions.ts'
import { renamed } from '../../../core/dialects/model-name.ts'

/** Clients of the public format get chunks as the backend words them. */
export const chatCompletions = chatCall(
  (chunk, model, json) => (json && renamed(json, 'model', chunk.model, model)) ?? printChunk(chunk, model),
)
