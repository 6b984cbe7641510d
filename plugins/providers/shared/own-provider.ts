/** What a provider outside this repository is written with: the entry `sealgate/providers`. */
export { printDecisions, parseDecisions } from '../../shared/decisions/decisions.ts'
export { fieldsOf, parseSystemOne, printSystemOne } from '../../shared/decisions/systemone.ts'
export {
  BaseUrl,
  accepted,
  faultOf,
  finish,
  garbled,
  parseObject,
  readBytes,
  readObject,
  readText,
  retryAfterOf,
} from '../../shared/backend.ts'
export { dataUrlOf } from '../../shared/data-url.ts'
export { type SseEvent, sseEvents } from '../../shared/sse.ts'
export { usageOf } from '../../../core/dialects/chat-completions.ts'
export { type ChatBackend, type ChatUpstream, chatBackend, createdAt } from './chat-backend.ts'
export { chunksOf, wholeOf } from './chat-chunks.ts'
export { type DecisionBackend, type DecisionForm, decisionBackend, decisionsForm } from './decision-backend.ts'
export { base64Beside, imagesBeside, imagesByName, imagesInState } from './decision-backend.ts'
export { eventItems, itemsOf } from './event-items.ts'
export { asSystem, onlyMembers } from './fit-messages.ts'
export { type FormField, type FormFile, form, formOf } from './form.ts'
export { type Account, type HostedChat, hostedChat, refusedFields } from './hosted-chat.ts'
export { mediaOf, mimeOfFormat, transcriptOf, vectorsOf } from './media-answers.ts'
export { lineItems } from './ndjson.ts'
export { type SignIn, type TokenRequest, signIn } from './sign-in.ts'
export { signedFetch } from './signed-fetch.ts'
export { transcriptStream } from './transcript-stream.ts'
