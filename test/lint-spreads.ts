/**
 * Copies of objects whose members nobody knows, in files on the way of a request: spreads, and the rest of a pattern. Each
 * copies as many members as a caller or a backend sent, in one piece: `bodies.members` bounds them, and a new one waits for a
 * reason. A file that is not listed has none.
 */
export const openSpreads: Readonly<Record<string, number>> = {
  'core/dialects/chat-completions.ts': 5,
  'core/inference/collect-chunks.ts': 11,
  'core/inference/prompt-caches.ts': 1,
  'core/inference/routing/continue-stream.ts': 8,
  'core/inference/routing/resilient-stream.ts': 1,
  'plugins/shared/dialects/also-sealed.ts': 3,
  'plugins/shared/dialects/generate-content/answer.ts': 2,
  'plugins/shared/dialects/generate-content/events.ts': 3,
  'plugins/shared/dialects/generate-content/request.ts': 4,
  'plugins/shared/dialects/generate-content/spelling.ts': 2,
  'plugins/shared/dialects/generate-content/turns.ts': 6,
  'plugins/shared/dialects/keepsake.ts': 3,
  'plugins/shared/dialects/messages/answer.ts': 2,
  'plugins/shared/dialects/messages/events.ts': 4,
  'plugins/shared/dialects/messages/native.ts': 1,
  'plugins/shared/dialects/messages/request.ts': 2,
  'plugins/shared/dialects/responses/events.ts': 4,
  'plugins/shared/dialects/responses/request.ts': 3,
  'plugins/shared/dialects/responses/relay.ts': 5,
  'plugins/shared/dialects/responses/resource.ts': 2,
  'plugins/shared/dialects/whole-delta.ts': 2,
  'plugins/surfaces/chat/chat.ts': 2,
  'plugins/surfaces/gemini/generate-content.ts': 1,
  'plugins/surfaces/shared/answering.ts': 4,
  'plugins/surfaces/shared/draw-images.ts': 2,
  'plugins/surfaces/shared/json-schema.ts': 1,
  'plugins/surfaces/shared/straight/request-bytes.ts': 1,
}
