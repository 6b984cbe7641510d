import type { JsonObject } from '../../../core/dialects/json-object.ts'
import type { TranslatedRequest } from './translated-request.ts'
import type { ModelSettings } from '../../../core/settings.ts'
import type { Dialect, Message } from '../../../core/ports/upstream.ts'

/**
 * The wordings of a request, also for a sealed backend. Its own dialect is known in its enclave alone, so signed thoughts
 * travel beside plain thoughts.
 */
export const alsoSealed =
  (translate: (to: Dialect | undefined, model: ModelSettings) => TranslatedRequest) =>
  (to: Dialect | undefined, model: ModelSettings): TranslatedRequest => {
    const understand = (dialect: Dialect | undefined) => translate(dialect, model)
    if (to !== 'sealed') return understand(to)
    const { body, dropped } = understand(undefined)
    const all = [understand('messages').body.messages, understand('responses').body.messages]
    if (all.some(({ length }) => length !== body.messages.length)) return { body, dropped }
    const own = understand('generate-content').body.messages
    const signed = body.messages.map((_, at) =>
      Object.assign(signedIn(all.map((worded) => worded[at])), extraIn(own[at])),
    )
    const messages = body.messages.map((message, at) => ({ ...message, ...signed[at] }))
    const isKept = signed.some((members) => Object.keys(members).length > 0)
    return { body: { ...body, messages }, dropped: isKept ? dropped.filter((path) => !paths.has(path)) : dropped }
  }

/** Members with signed thoughts, each for backends of one dialect. */
const kept = ['thinking_blocks', 'response_items'] as const

/** The paths that name them where they are left out. */
const paths = new Set([
  ...['reasoning.signature', 'messages.content.thinking', 'messages.content.redacted_thinking'],
  'contents.parts.thoughtSignature',
])

/** Signatures of Gemini, which stand at messages and at their calls. */
const extraIn = ({ extra_content, tool_calls }: Partial<Message> = {}): JsonObject => ({
  ...(extra_content != null && { extra_content }),
  ...(tool_calls?.some((call) => 'extra_content' in call) === true && { tool_calls }),
})

const signedIn = (worded: readonly (Message | undefined)[]): JsonObject =>
  Object.fromEntries(
    kept.flatMap((name) => {
      const found = worded.find((message) => message?.[name] !== undefined)
      return found === undefined ? [] : [[name, found[name]]]
    }),
  )
