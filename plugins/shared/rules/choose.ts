import { hash } from 'node:crypto'
import { mayUse } from '../../../core/access/caller.ts'
import type { Supplied } from '../../../core/container.ts'
import { GatewayError } from '../../../core/errors.ts'
import { inputOf } from '../../../core/inference/metering/tokens.ts'
import type { Cache } from '../../../core/ports/cache.ts'
import type { Log } from '../../../core/ports/platform.ts'
import type { ChatBody, Message } from '../../../core/ports/upstream.ts'
import type { decisionNeeds } from '../decisions/decision-needs.ts'
import { decide } from '../decisions/decide.ts'
import type { Rule, RuledChat, RuledModel } from './ruled.ts'

type Given = Supplied<typeof decisionNeeds> & { readonly cache: Cache; readonly log: Log }

/** Ms for which a conversation keeps its kind after a turn. */
const keptMs = 3_600_000
/** Characters of the last message about which the model decides: a kind shows at the beginning and at the end. */
const mostState = 2_000
/** Characters that tell conversations apart. */
const telling = 16_384

/** The model of the rule for this chat: by what the chat shows, by what the conversation keeps, or by a decision. */
export const chosenModel = async (
  name: string,
  rule: Rule,
  chat: RuledChat,
  given: Given,
  signal: AbortSignal,
): Promise<RuledModel> => {
  const modelOf = (kind: string): string | null => rule.routes.find(({ when }) => when === kind)?.model ?? null
  const otherwise = (why: string): RuledModel => ({ model: rule.otherwise, why })
  const led = (kind: string, why: string): RuledModel => {
    const model = modelOf(kind)
    if (model === null) return otherwise(why)
    return mayUse(chat.caller, model) ? { model, why } : otherwise(`${why}, not for this key`)
  }
  const seen = shownKind(chat.body, rule)
  if (seen !== null && modelOf(seen) !== null) return led(seen, seen)
  const place = placeOf(name, chat)
  const kept = await given.cache.get<string>(place)
  if (kept !== undefined) {
    await given.cache.set(place, kept, keptMs)
    return led(kept, `kept ${kept}`)
  }
  const decided = await decidedKind(rule, chat, given, signal)
  if (decided === null) return otherwise('undecided')
  const { kind, confidence } = decided
  if (confidence < rule.decide.below) return otherwise(`unsure ${kind} ${confidence.toFixed(2)}`)
  await given.cache.set(place, kind, keptMs)
  return led(kind, `${kind} ${confidence.toFixed(2)}`)
}

const shownKind = (body: ChatBody, { long }: Rule): 'vision' | 'long' | null => {
  const isSeen = body.messages.some(
    ({ content }) => Array.isArray(content) && content.some(({ type }) => type === 'image_url' || type === 'video_url'),
  )
  return isSeen ? 'vision' : inputOf(body) >= long ? 'long' : null
}

/** A digest: no cache holds what a user wrote. */
const placeOf = (name: string, { caller: { organization, key }, session, body }: RuledChat): string => {
  const beginning = [
    body.messages.find(({ role }) => role === 'system' || role === 'developer'),
    body.messages.find(({ role }) => role === 'user'),
  ].map((message) => textOf(message).slice(0, telling))
  const parts = [name, organization, key, ...(session === null ? beginning : ['session', session])]
  return `rules/${hash('sha256', parts.join('\0'), 'hex')}`
}

const textOf = (message: Message | undefined): string => {
  const content = message?.content
  if (!Array.isArray(content)) return typeof content === 'string' ? content : ''
  return content.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).join('\n')
}

/** The beginning and the end of the last message of the user. */
const stateOf = ({ messages }: ChatBody): string => {
  const text = textOf(messages.findLast(({ role }) => role === 'user'))
  return text.length <= mostState ? text : `${text.slice(0, mostState / 2)}\n…\n${text.slice(-mostState / 2)}`
}

/** Null where the model fails, or takes too long; the bill of the decision is the caller's. */
const decidedKind = async (
  { decide: { with: model, instructions, criteria, patience } }: Rule,
  { caller, record, body }: RuledChat,
  { catalog, inference, meter, clock, log }: Given,
  signal: AbortSignal,
): Promise<{ readonly kind: string; readonly confidence: number } | null> => {
  const options = Object.entries(criteria).map(([label, description]) => ({ label, description }))
  const question = { type: 'choice', instructions, options } as const
  try {
    const entry = await catalog.find(model, signal, 'decide')
    if (entry === null) return null
    const { answers } = await decide(
      { inference, clock, reserve: async (asked, estimate) => meter.reserve(caller, asked, estimate, record) },
      {
        ...{ entry, larger: [], provider: null, questions: [{ id: 'kind', question }] },
        call: { state: stateOf(body), images: [], samples: null, steps: null },
        ...{ began: clock.now(), total: patience },
      },
      signal,
    )
    const answer = answers.get('kind')
    return answer?.type === 'choice' ? { kind: answer.choice, confidence: answer.confidence } : null
  } catch (fault) {
    signal.throwIfAborted()
    const status = fault instanceof GatewayError ? fault.status : null
    log.warn('rule.undecided', { request: record?.id ?? null, model, status })
    return null
  }
}
