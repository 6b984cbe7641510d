import * as v from 'valibot'
import { GatewayError } from '../../../../core/errors.ts'
import type { Clock, Log } from '../../../../core/ports/platform.ts'
import type { ChatBody, ChatCall } from '../../../../core/ports/upstream.ts'
import { fieldsBeyondResponses } from '../../../shared/dialects/responses/unsupported-fields.ts'
import { responsesOnly, responsesWithTools } from './responses-rules.ts'

/** The two interfaces of a server by which it chats. */
export type Road = 'responses' | 'chat'

const road = v.picklist(['responses', 'chat', 'auto'])

/** Which interface a model is asked by: one for all models, or by names, which may end in a star. */
export const ApiSetting = v.union([road, v.record(v.string(), road)])
type ApiSetting = v.InferOutput<typeof ApiSetting>

/** Ms that a refusal is remembered, and models of which one is. */
const remembered = 3_600_000
const mostModels = 256

/** The roads of one backend. */
export interface Roads {
  /** Whether calls of the model may go by Responses, so that requests are worded for it. */
  usual(model: string): Road
  /** The road of one call. */
  of(call: Pick<ChatCall, 'model' | 'body' | 'native' | 'prefix'>): Road
  /** The other road, where this fault of a road says that the model needs it; null where it says nothing of it. */
  learn(model: string, from: Road, fault: unknown): Road | null
}

/** `nameOf` gives the name by which the rules know a model. */
export const roadsOf = (
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  provider: string,
  setting: ApiSetting,
  nameOf: (model: string) => string = (model) => model,
): Roads => {
  const learnt = new Map<string, { readonly road: Road; readonly until: number }>()

  const known = (model: string): Road | null => {
    const lesson = learnt.get(model)
    if (lesson === undefined || lesson.until > clock.now()) return lesson?.road ?? null
    learnt.delete(model)
    return null
  }
  /** By the name behind the vendor's, as routers of several vendors have it. */
  const ruled = (model: string): string => nameOf(model).replace(/^.*\//, '')
  const byRules = new Map<string, Road>()
  const roadByRules = (model: string): Road => {
    const found = byRules.get(model)
    if (found !== undefined) return found
    const name = ruled(model)
    const road = responsesOnly.test(name) || responsesWithTools.test(name) ? 'responses' : 'chat'
    if (byRules.size >= mostModels) byRules.clear()
    byRules.set(model, road)
    return road
  }
  const usual = (model: string): Road => {
    const wanted = settingOf(setting, model)
    return wanted === 'auto' ? (known(model) ?? roadByRules(model)) : wanted
  }
  const isForced = (model: string): boolean =>
    usual(model) === 'responses' && (settingOf(setting, model) !== 'auto' || responsesOnly.test(ruled(model)))

  return {
    usual,
    of({ model, body, native, prefix }) {
      if (usual(model) === 'chat' || (prefix !== undefined && !isForced(model))) return 'chat'
      return native === undefined && !isForced(model) && needsChat(body) ? 'chat' : 'responses'
    },
    learn(model, from, fault) {
      if (settingOf(setting, model) !== 'auto' || !pointsAway(from, fault)) return null
      const to = from === 'chat' ? 'responses' : 'chat'
      if (learnt.size >= mostModels) learnt.clear()
      learnt.set(model, { road: to, until: clock.now() + remembered })
      log.info('backend.api', { backend: provider, model, api: to })
      return to
    },
  }
}

const settingOf = (setting: ApiSetting, model: string): v.InferOutput<typeof road> => {
  if (typeof setting === 'string') return setting
  const named = setting[model]
  if (named !== undefined) return named
  const begun = Object.keys(setting).filter((name) => name.endsWith('*') && model.startsWith(name.slice(0, -1)))
  const [longest] = begun.sort((a, b) => b.length - a.length)
  return (longest === undefined ? undefined : setting[longest]) ?? 'auto'
}

/** Chat completions alone know some fields, and take them from every model as long as no tool is offered. */
const needsChat = (body: ChatBody): boolean =>
  !(Array.isArray(body['tools']) && body['tools'].length > 0) &&
  Object.entries(body).some(
    ([name, value]) =>
      value != null && name !== 'stream_options' && name !== 'provider' && fieldsBeyondResponses.has(name),
  )

/** Whether the refusal of one road is its own word for the other one, or says that the road is not there. */
const pointsAway = (from: Road, fault: unknown): boolean => {
  if (!(fault instanceof GatewayError)) return false
  const sentence = fault.cause instanceof Error ? fault.cause.message.slice(0, 4_096) : ''
  if (from === 'chat') return /\bv1\/responses\b|\bresponses api\b/i.test(sentence)
  const status = (fault as { readonly answered?: unknown }).answered
  const isGone = status === 405 || status === 501 || (status === 404 && !/model/i.test(sentence))
  return isGone || /\bv1\/chat\/completions\b/i.test(sentence)
}
