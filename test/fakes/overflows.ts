import type { Backend } from './doors.ts'
import type { Asked, Take } from './recorded.ts'

/** How backends of each dialect say that a prompt is too long. */
export const overflows: Readonly<Record<Backend, object>> = {
  chat: { error: { message: 'The maximum context length is 8 tokens', code: 'context_length_exceeded' } },
  responses: { error: { message: 'Your input exceeds the context window.', code: 'context_length_exceeded' } },
  messages: { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8' } },
  gemini: {
    error: { code: 400, message: 'The input token count (9) exceeds the maximum (8).', status: 'INVALID_ARGUMENT' },
  },
}

/** The dialect of a backend's path. */
export const dialectAt = (path: string): Backend =>
  (['chat', 'responses', 'messages'] as const).find((name) => path.includes(`/${name}`)) ?? 'gemini'

export const overflow = ({ path }: Asked): Take => ({
  status: 400,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(overflows[dialectAt(path)]),
})
