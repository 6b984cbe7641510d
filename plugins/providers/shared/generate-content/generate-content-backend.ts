import type { JsonObject } from '../../../../core/dialects/json-object.ts'
import { readObject } from '../../../shared/backend.ts'
import { BadRequest, UpstreamFailed } from '../../../../core/errors.ts'
import type { Answer, Clock, Random } from '../../../../core/ports/platform.ts'
import type { ChatCall, ChatWire, DrawCall, Drawn, ModelType, Upstream } from '../../../../core/ports/upstream.ts'
import { countOf } from './count-content.ts'
import { type WiredChat, answerBy, completedBy, refusePrefix, wireBy } from '../wired-chat.ts'
import { completionOf, contentEvents } from './generate-content-answers.ts'
import {
  drawBody,
  drawnOf,
  editBody,
  speakBody,
  speechOf,
  transcribeBody,
  transcriptOf,
} from './generate-content-media.ts'
import { generateBody, type Generation } from './generate-content.ts'

/** Sends a body to an act of a model, such as `generateContent`. Resolves with an answer of 2xx alone. */
export type Post = (model: string, act: string, body: JsonObject, signal: AbortSignal) => Promise<Answer>

/** What differs between the Gemini API and Vertex. */
export interface GenerateContentBackend {
  readonly clock: Clock
  readonly random: Random
  /** The voice for a caller who names none. */
  readonly voice: string
  readonly post: Post
  /** The line to an act of a model; absent where no line takes bytes by events. */
  readonly line?: ((model: string, act: string) => Pick<ChatWire, 'url' | 'headers' | 'push'>) | undefined
  /** The body of a request for a count. */
  readonly counted: (model: string, body: JsonObject) => JsonObject
}

/** Names of the past, which stay as they are. Whatever is not here is newer. */
const generationOf = (model: string): Generation => {
  if (!/^gemini-/.test(model) || /^gemini-(1|2\.0)/.test(model)) return { thinks: 'never', least: 0 }
  if (/^gemini-2\.5/.test(model)) return { thinks: 'budget', least: /pro/.test(model) ? 128 : 0 }
  return { thinks: 'level', least: /flash/.test(model) ? 'MINIMAL' : 'LOW' }
}

const kinds: readonly (readonly [RegExp, ModelType])[] = [
  [/tts/, 'AUDIO_SPEECH'],
  [/transcribe/, 'AUDIO_TRANSCRIPTION'],
  [/image|banana/, 'IMAGE'],
]

/** What a model is for, as its name tells. */
export const kindOf = (id: string): ModelType => kinds.find(([named]) => named.test(id))?.[1] ?? 'CHAT'

/** They refuse some things as the caller's mistake that are not, and tell in the body when another try makes sense. */
export const meant = (fault: unknown): unknown => {
  const refusal = fault instanceof BadRequest || fault instanceof UpstreamFailed ? fault.cause : null
  if (!(refusal instanceof Error)) return fault
  const { message } = refusal
  if (fault instanceof BadRequest && /"(API_KEY_INVALID|FAILED_PRECONDITION)"/.test(message)) {
    return new UpstreamFailed(undefined, { again: true, answered: 400, cause: refusal })
  }
  const wait = /"retryDelay":\s*"([\d.]+)s"/.exec(message)
  if (!(fault instanceof UpstreamFailed) || fault.retryAfter !== null || !wait) return fault
  const { again, answered, code } = fault
  return new UpstreamFailed(undefined, { again, answered, code, retryAfter: Number(wait[1]) * 1000, cause: refusal })
}

export type GenerateContentUpstream = Required<
  Pick<Upstream, 'chat' | 'countTokens' | 'draw' | 'edit' | 'speak' | 'transcribe'>
> &
  Pick<Upstream, 'wire'>

const actOf = ({ stream }: ChatCall) => (stream ? 'streamGenerateContent?alt=sse' : 'generateContent')

/** Chats, and how one goes on the wire. */
const chatsBy = ({
  clock,
  random,
  post,
  line,
}: Pick<GenerateContentBackend, 'clock' | 'random' | 'post' | 'line'>): Pick<
  GenerateContentUpstream,
  'chat' | 'wire'
> => {
  const wired = (call: ChatCall): WiredChat => {
    const { model, native } = call
    const isNative = native?.dialect === 'generate-content'
    const reading = { model, clock, random, native: isNative }
    return {
      body: generateBody(call, generationOf(model)),
      isNative,
      whole: (answer) => completedBy(completionOf(answer, reading), answer, isNative ? 'generate-content' : null),
      events: (status) => contentEvents(reading, status),
    }
  }
  return {
    async chat(call, signal) {
      refusePrefix(call.prefix)
      const chat = wired(call)
      return answerBy(chat, await post(call.model, actOf(call), chat.body, signal), call.stream, clock)
    },

    ...(line && { wire: (call: ChatCall) => wireBy(wired(call), line(call.model, actOf(call)), meant) }),
  }
}

/** Everything that Gemini's models do by generating content, wherever they are served. */
export const generateContentBackend = ({
  clock,
  random,
  voice,
  post,
  line,
  counted,
}: GenerateContentBackend): GenerateContentUpstream => {
  const generate = async (model: string, body: JsonObject, signal: AbortSignal) =>
    readObject(await post(model, 'generateContent', body, signal))
  const drawing = async ({ model, count = 1 }: DrawCall, body: JsonObject, signal: AbortSignal): Promise<Drawn> => {
    // They draw one image at a time.
    const answers = Array.from({ length: Math.max(1, count) }, () => generate(model, body, signal))
    const drawn = drawnOf(await Promise.all(answers))
    return Object.assign(drawn.slice(0, Math.max(1, count)), drawn.about && { about: drawn.about })
  }

  return {
    ...chatsBy({ clock, random, post, line }),

    async countTokens(call, signal) {
      const { model } = call
      const body = generateBody({ ...call, stream: false }, generationOf(model))
      return countOf(await post(model, 'countTokens', counted(model, body), signal), call)
    },

    draw: (call, signal) => drawing(call, drawBody(call), signal),
    edit: async (call, signal) => drawing(call, editBody(call), signal),

    async speak(call, signal) {
      return speechOf(await generate(call.model, speakBody(call, voice), signal), call.format)
    },

    async transcribe(call, signal) {
      return transcriptOf(await generate(call.model, transcribeBody(call), signal), call)
    },
  }
}
