import type { Supplied } from '../../../core/container.ts'
import { parseObject } from '../../shared/backend.ts'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import type { ChatBody, Completion, Part, Usage } from '../../../core/ports/upstream.ts'
import { runForTool } from '../../shared/run-for-tool.ts'
import type { workNeeds } from '../../shared/work-needs.ts'
import type { Candidate } from '../../../core/inference/models/catalog-entry.ts'
import { collectChunks } from '../../../core/inference/collect-chunks.ts'
import { inputOf, tokensOf, usageOf } from '../../../core/inference/metering/tokens.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'

/** A question to a model that sees. */
export interface ImageQuestion {
  /** The model in the tool's settings. */
  readonly model?: string | undefined
  /** Images and questions, in order. */
  readonly parts: readonly Part[]
  /** The wanted JSON: an object with all of these properties. */
  readonly properties: JsonObject
}

/** Every field may be missing or of another type: the caller reads each with care. */
export interface ImageAnswer {
  /** The model's unchecked answer; only `description` when the model answered in prose. */
  readonly fields: JsonObject
  /** The name that callers use. */
  readonly model: string
}

/** A data URL: no backend has to fetch an address. */
export const imagePart = (mime: string, bytes: Uint8Array): Part => {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return { type: 'image_url', image_url: { url: `data:${mime};base64,${data}` } }
}

/**
 * Asks a chat model that takes images for a JSON object. Throws Unconfigured without such a model, and UpstreamFailed
 * when the answer is unreadable.
 */
export const askAboutImages = async (
  supplied: Supplied<typeof workNeeds>,
  { model: wanted, parts, properties }: ImageQuestion,
  signal: AbortSignal,
): Promise<ImageAnswer> => {
  const messages = [{ role: 'user', content: parts }]
  const { answer, model } = await runForTool(
    supplied,
    { ability: 'chat', model: wanted, modality: 'image' },
    async (candidate, signal) => {
      const answerOf = (body: ChatBody) => completed(candidate, body, signal)
      const { usage, ...completion } = await answerOf({ messages, response_format: formatOf(properties) }).catch(
        (error: unknown) => {
          // Many servers that take images refuse this field; the instruction asks for the same form.
          if (error instanceof BadRequest) return answerOf({ messages })
          throw error
        },
      )
      const text = textOf(completion)
      return { fields: fieldsOf(text), usage: usage ? usageOf(usage) : guessed({ messages }, text) }
    },
    ({ usage }) => ({ usage }),
    signal,
  )
  return { fields: answer.fields, model }
}

/** Structured output as OpenAI has it; in its strict form, each property is required. */
const formatOf = (properties: JsonObject) => ({
  type: 'json_schema',
  json_schema: {
    name: 'description',
    strict: true,
    schema: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  },
})

const completed = async (
  { upstream, model }: Candidate<'chat'>,
  body: ChatBody,
  signal: AbortSignal,
): Promise<Completion> => {
  const answer = await upstream.chat({ model, body, stream: false }, signal)
  return answer.kind === 'completion' ? answer.completion : collectChunks(answer.chunks)
}

/** For a backend that told no usage. */
const guessed = (body: ChatBody, words: string): Usage => ({
  input: inputOf(body),
  output: tokensOf(words),
  estimated: true,
})

/** Thoughts at the beginning are dropped, since some models write them into the answer. */
const textOf = ({ choices }: Completion): string => {
  const content = choices[0]?.message.content
  const text = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('')
  return text.replace(/^\s*<think>.*?<\/think>/s, '').trim()
}

/** The JSON object in an answer's text. Text with a broken object throws, and prose becomes `description`. */
const fieldsOf = (text: string): JsonObject => {
  const found = parseObject(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  if (found !== null) return found
  if (text === '' || /^(```|\{)/.test(text)) throw new UpstreamFailed('The model gave no answer', { again: true })
  return { description: text }
}
