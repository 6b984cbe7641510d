/** What a surface outside this repository is written with: the entry `sealgate/route`. */
export {
  ChatRequest,
  endMark,
  printChunk,
  printCompletion,
  split,
  usageOf,
  wireUsage,
} from '../../../core/dialects/chat-completions.ts'
export { type Broken, type Quiet, type Reply, type ServerEvent } from '../../../core/http/reply.ts'
export { bytes, data, events, json, refused, text } from '../../../core/http/reply.ts'
export { type Access, type AnyRoute, type Body, type Bound, type Params } from '../../../core/http/route.ts'
export { type Render, type Request, type Route, route } from '../../../core/http/route.ts'
export { Settings, type SettingsInput } from '../../../core/settings.ts'
export type { DialectChat } from './dialect-chat.ts'
export { type SpokenEvents, type WholeAnswer, chatNeeds, streamedAnswer, wholeAnswer } from './answer-chat.ts'
