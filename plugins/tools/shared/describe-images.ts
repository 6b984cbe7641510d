import type { Supplied } from '../../../core/container.ts'
import { parseObject } from '../../../core/dialects/backend.ts'
import { BadRequest, UpstreamFailed } from '../../../core/errors.ts'
import type { ChatBody, Completion, Part, Usage } from '../../../core/ports/upstream.ts'
import { employ, type workNeeds } from '../../../core/inference/run-for-tool.ts'
import type { Candidate } from '../../../core/inference/models/catalog-entry.ts'
import { fold } from '../../../core/inference/collect-chunks.ts'
import { inputOf, tokensOf, usageOf } from '../../../core/inference/metering/tokens.ts'

type Fields = Readonly<Record<string, unknown>>

export interface Inquiry {
  /** The model that the tool's settings name. */
  readonly model?: string | undefined
  /** What is shown and asked, in its order. */
  readonly parts: readonly Part[]
  /** The JSON that is asked for: an object, all of whose properties are wanted. */
  readonly properties: Fields
}

export interface Said {
  /** What the model answered: unchecked, and only `description` when it answered in prose. */
  readonly fields: Fields
  /** As callers name it. */
  readonly model: string
}

export const picture = (mime: string, bytes: Uint8Array): Part => {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return { type: 'image_url', image_url: { url: `data:${mime};base64,${data}` } }
}

/**
 * Asks a chat model that takes images for a JSON object. Throws Unconfigured when there is none, and UpstreamFailed when it
 * says nothing that can be read.
 */
export const converse = async (
  supplied: Supplied<typeof workNeeds>,
  { model: wanted, parts, properties }: Inquiry,
  signal: AbortSignal,
): Promise<Said> => {
  const messages = [{ role: 'user', content: parts }]
  const { answer, model } = await employ(
    supplied,
    { ability: 'chat', model: wanted, modality: 'image' },
    async (candidate, signal) => {
      const asked = (body: ChatBody) => completed(candidate, body, signal)
      const { usage, ...completion } = await asked({ messages, response_format: formatOf(properties) }).catch(
        (error: unknown) => {
          // Many a server that takes images refuses the field; the instruction asks for the same.
          if (error instanceof BadRequest) return asked({ messages })
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

const formatOf = (properties: Fields) => ({
  type: 'json_schema',
  json_schema: {
    name: 'description',
    strict: true,
    schema: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  },
})

const completed = async ({ upstream, model }: Candidate, body: ChatBody, signal: AbortSignal): Promise<Completion> => {
  const answer = await upstream.chat!({ model, body, stream: false }, signal)
  return answer.kind === 'completion' ? answer.completion : fold(answer.chunks)
}

const guessed = (body: ChatBody, said: string): Usage => ({
  input: inputOf(body),
  output: tokensOf(said),
  estimated: true,
})

const textOf = ({ choices }: Completion): string => {
  const content = choices[0]?.message.content
  const text = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('')
  return text.replace(/^\s*<think>.*?<\/think>/s, '').trim()
}

/** The JSON object within an answer's text. Half an object is none, and no prose either. */
const fieldsOf = (text: string): Fields => {
  const found = parseObject(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  if (found !== null) return found
  if (text === '' || /^(```|\{)/.test(text)) throw new UpstreamFailed('The model gave no answer', { again: true })
  return { description: text }
}
