import { print } from '../../../../core/dialects/json.ts'
import { exact } from '../../../shared/long-numbers.ts'
import type { Clock, Random } from '../../../../core/ports/platform.ts'
import type { Chunk, Completion, Message, ToolCall, WireEvents, WireUsage } from '../../../../core/ports/upstream.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import { garbled, itemsIn, parseExact, parseObject, toldFault } from '../../../shared/backend.ts'
import { wireUsage } from '../../../../core/dialects/chat-completions.ts'
import type { Candidate, JsonObject, Said, SaidPart } from './said-parts.ts'
import { countsSoFar } from '../counts-so-far.ts'
import { unpackedEvents, withNative } from '../event-items.ts'
import { type CallPieces, callPieces } from './call-pieces.ts'
import { signed } from '../../../shared/dialects/generate-content/signed.ts'

/** Reasons of the common format by Gemini's reasons. */
const reasons: Readonly<Record<string, string>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  LANGUAGE: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
}

export const isFiltered = (reason: unknown): boolean => reasons[String(reason)] === 'content_filter'

/** What they refuse before there is any candidate. */
export const blockOf = ({ promptFeedback }: Said): string | null => {
  const { blockReason } = (promptFeedback ?? {}) as JsonObject
  return typeof blockReason === 'string' ? blockReason : null
}

/** Whatever else they end with is no end of an answer. A reason of its own, such as a malformed call, is the model's slip. */
const reasonOf = (reason: string, called: boolean): string => {
  const ours = reasons[reason]
  if (ours === undefined) {
    const cause = new Error('The answer was broken off')
    throw new UpstreamFailed(undefined, { again: true, backendWorks: reason !== '', cause })
  }
  return ours === 'stop' && called ? 'tool_calls' : ours
}

/** Throws the fault that an answer of status 200 may still tell, and UpstreamFailed for another form. */
export const saidOf = (body: JsonObject): Said => {
  if (body['error'] != null) throw toldFault(body['error'])
  if (!Array.isArray(body['candidates'] ?? [])) throw garbled('No candidates in the answer')
  return body
}

const count = (number: unknown): number => Number(number ?? 0)

/** Tokens of sound among the counts of each kind of content. */
const soundIn = (details: unknown): number =>
  itemsIn(details).reduce((sum, part) => sum + (part['modality'] === 'AUDIO' ? count(part['tokenCount']) : 0), 0)

/** The details of that name with their tokens of sound. */
const withSound = (name: string, { [name]: details }: WireUsage, tokens: number): JsonObject =>
  tokens > 0 ? { [name]: { ...(details as JsonObject | undefined), audio_tokens: tokens } } : {}

/** Prompts of tools count as input, and thoughts as output. Sound that a cache held counts as cached alone. */
export const usageIn = ({ usageMetadata }: Said): WireUsage => {
  const {
    promptTokenCount,
    toolUsePromptTokenCount,
    candidatesTokenCount,
    thoughtsTokenCount,
    cachedContentTokenCount,
    totalTokenCount: _,
    ...rest
  } = usageMetadata ?? {}
  if ((promptTokenCount ?? candidatesTokenCount ?? thoughtsTokenCount) == null) return rest as WireUsage
  const usage = wireUsage({
    input: count(promptTokenCount) + count(toolUsePromptTokenCount),
    output: count(candidatesTokenCount) + count(thoughtsTokenCount),
    ...(thoughtsTokenCount !== undefined && { reasoning: count(thoughtsTokenCount) }),
    ...(cachedContentTokenCount !== undefined && { cached: count(cachedContentTokenCount) }),
  })
  const heard = soundIn(rest['promptTokensDetails']) - soundIn(rest['cacheTokensDetails'])
  return {
    ...rest,
    ...usage,
    // A cache that names no kinds may have held the sound.
    ...withSound('prompt_tokens_details', usage, Math.min(heard, usage.prompt_tokens - count(cachedContentTokenCount))),
    ...withSound('completion_tokens_details', usage, soundIn(rest['candidatesTokensDetails'])),
  }
}

/** Empty unless the caller asked for probabilities. */
const logprobsIn = ({ logprobsResult }: Candidate): JsonObject => {
  const { chosenCandidates, topCandidates } = (logprobsResult ?? {}) as JsonObject
  if (!Array.isArray(chosenCandidates)) return {}
  const told = (scored: JsonObject | null) => {
    const token = String(scored?.['token'] ?? '')
    return { token, logprob: count(scored?.['logProbability']), bytes: [...Buffer.from(token)] }
  }
  const content = chosenCandidates.map((token: JsonObject | null, at) => ({
    ...told(token),
    top_logprobs: itemsIn((topCandidates as (JsonObject | null)[] | null)?.[at]?.['candidates']).map(told),
  }))
  return { logprobs: { content, refusal: null } }
}

const candidatesOf = ({ candidates }: Said): readonly Candidate[] => itemsIn(candidates)
const partsOf = ({ content }: Candidate): readonly SaidPart[] => itemsIn(content?.parts)

/** A call without an id gets one here. */
const called = (part: SaidPart, id: () => string): ToolCall => {
  const { functionCall: called, thoughtSignature } = part
  return {
    id: called?.id ?? id(),
    type: 'function',
    function: { name: String(called?.name), arguments: print(exact(called?.args ?? {})) },
    ...signed(thoughtSignature),
  }
}

/** Gemini's parts as fields of a message: text, thoughts, calls, images, and parts that the common format lacks. */
const messageOf = (
  parts: readonly SaidPart[],
  id: () => string,
): JsonObject & { readonly tool_calls: readonly ToolCall[] } => {
  const texts = parts.filter(({ text, thought }) => text !== undefined && !thought).map(({ text }) => text)
  const thoughts = parts.filter(({ text, thought }) => text !== undefined && thought).map(({ text }) => text)
  const images = parts.filter(({ inlineData, thought }) => /^image\//.test(String(inlineData?.mimeType)) && !thought)
  const others = parts.filter(
    (part) => part.text === undefined && !part.functionCall && !images.includes(part) && !part.thought,
  )
  const signature = parts.findLast(
    (part) => part.thoughtSignature !== undefined && !part.functionCall,
  )?.thoughtSignature
  return {
    ...(texts.length > 0 && { content: texts.join('') }),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('') }),
    ...(images.length > 0 && {
      images: images.map(({ inlineData: data }) => ({
        type: 'image_url',
        image_url: { url: `data:${data?.mimeType};base64,${data?.data}` },
      })),
    }),
    ...(others.length > 0 && { parts: others }),
    ...signed(signature),
    tool_calls: parts.filter(({ functionCall }) => functionCall).map((part) => called(part, id)),
  }
}

/** Everything of theirs that the common format has no place for stays under its own name. */
const restOf = ({ candidates: _, usageMetadata, modelVersion, responseId, createTime, ...rest }: Said): JsonObject =>
  rest

const moreOf = (candidate: Candidate): JsonObject => {
  const { index: _, content, finishReason, logprobsResult, ...rest } = candidate
  return {
    ...rest,
    ...logprobsIn(candidate),
    ...(finishReason !== undefined && { native_finish_reason: finishReason }),
  }
}

/** What the reading of an answer needs of its request. */
export interface Reading {
  /** As the caller's request names it. */
  readonly model: string
  readonly clock: Clock
  readonly random: Random
  /** The request was the caller's own: its events go on as they come. */
  readonly native?: boolean
}

const made = (random: Random, kind: string): string => kind + Buffer.from(random.bytes(12)).toString('hex')

const headOf = ({ responseId, modelVersion }: Said, { model, clock, random }: Reading) => ({
  id: typeof responseId === 'string' ? responseId : made(random, 'chatcmpl-'),
  created: Math.floor(clock.now() / 1000),
  model: typeof modelVersion === 'string' ? modelVersion : model,
})

const refused = (reason: string) => ({ finish_reason: 'content_filter', native_finish_reason: reason })

/** A blocked request becomes one empty choice that a filter ended. Throws UpstreamFailed without candidates. */
export const completionOf = (body: JsonObject, reading: Reading): Completion => {
  const answer = saidOf(body)
  const candidates = candidatesOf(answer)
  const block = blockOf(answer)
  if (candidates.length === 0 && block === null) throw garbled('No candidates in the answer')
  const choices = candidates.map((candidate, at) => {
    const { tool_calls, ...fields } = messageOf(partsOf(candidate), () => made(reading.random, 'call_'))
    const calls = tool_calls.length > 0
    const message: Message = { role: 'assistant', content: calls ? null : '', ...fields, ...(calls && { tool_calls }) }
    const finish_reason = reasonOf(candidate.finishReason ?? '', calls)
    return { index: candidate.index ?? at, message, finish_reason, ...moreOf(candidate) }
  })
  return {
    ...restOf(answer),
    ...headOf(answer, reading),
    object: 'chat.completion',
    choices:
      choices.length > 0 ? choices : [{ index: 0, message: { role: 'assistant', content: '' }, ...refused(block!) }],
    usage: usageIn(answer),
  }
}

/** The reader of a stream of pieces. They send no end mark: a stream ends well when every candidate has its reason. */
export const contentEvents = (reading: Reading, status: number): WireEvents => {
  let head: ReturnType<typeof headOf> | null = null
  /** By candidate: how many calls it has made. */
  const calls = new Map<number, number>()
  const open = new Set<number>()
  const pieces = new Map<number, CallPieces>()

  const choiceOf = (candidate: Candidate, index: number): Chunk['choices'][number] => {
    const joining = pieces.get(index) ?? callPieces()
    pieces.set(index, joining)
    const parts = joining.join(partsOf(candidate), candidate.finishReason != null)
    const { tool_calls, ...fields } = messageOf(parts, () => made(reading.random, 'call_'))
    const before = calls.get(index)
    const role = before === undefined ? { role: 'assistant' } : {}
    const made_calls = tool_calls.map((call, at) => ({ index: (before ?? 0) + at, ...call }))
    calls.set(index, (before ?? 0) + tool_calls.length)
    const { finishReason } = candidate
    if (finishReason == null) open.add(index)
    else open.delete(index)
    return {
      index,
      delta: { ...role, ...fields, ...(made_calls.length > 0 && { tool_calls: made_calls }) },
      finish_reason: finishReason == null ? null : reasonOf(finishReason, (calls.get(index) ?? 0) > 0),
      ...moreOf(candidate),
    }
  }

  const read = ({ data }: { readonly data: string }, into: Chunk[]): boolean => {
    const body = data.includes('"functionCall"') ? parseExact(data) : parseObject(data)
    if (body === null) throw garbled('A malformed event', status)
    const answer = saidOf(body)
    head ??= headOf(answer, reading)
    const counted = answer.usageMetadata == null ? {} : countsSoFar(usageIn(answer))
    const chunk = { ...restOf(answer), ...head, ...counted, object: 'chat.completion.chunk' }
    const block = blockOf(answer)
    const choices = candidatesOf(answer).map((candidate, at) => choiceOf(candidate, candidate.index ?? at))
    if (choices.length > 0) into.push({ ...chunk, choices })
    else if (block !== null) {
      calls.set(0, 0)
      into.push({ ...chunk, choices: [{ index: 0, delta: {}, ...refused(block) }] })
    }
    if (answer.usageMetadata && calls.size > 0 && open.size === 0) {
      into.push({ ...head, object: chunk.object, choices: [], usage: usageIn(answer) })
    }
    return false
  }

  return unpackedEvents(reading.native === true ? withNative('generate-content', read) : read, () => {
    if (calls.size === 0 || open.size > 0) throw garbled('The stream ended before its answer did', status)
  })
}
