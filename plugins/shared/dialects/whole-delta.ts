import type { ChunkChoice, Message } from '../../../core/ports/upstream.ts'

/** The message of a whole answer as the delta of the only chunk of a stream, where each call has its number. */
export const wholeDelta = (message: Message): ChunkChoice['delta'] => {
  const calls = message.tool_calls?.map((call, index) => ({ ...call, index }))
  return (calls === undefined ? message : { ...message, tool_calls: calls }) as ChunkChoice['delta']
}
