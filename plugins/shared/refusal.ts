import { isJsonObject, type JsonObject } from '../../core/dialects/json-object.ts'
import { redactedSentence, needsNoRedaction } from './redact-sentence.ts'

/** The reasons for which a backend refuses. Callers see the same words for every dialect. */
export const refusalCodes = [
  'context_length_exceeded',
  'content_filter',
  'unsupported_parameter',
  'insufficient_quota',
  'model_not_found',
  'invalid_image',
  'request_too_large',
] as const
/** The code of one reason, as callers get it. */
export type RefusalCode = (typeof refusalCodes)[number]

/** What a refusal says, as far as a caller may know it. */
export interface Refusal {
  readonly code: RefusalCode | null
  /** The member of the request that the backend does not take. */
  readonly param: string | null
  readonly sentence: string | null
}

interface Sign {
  readonly code: RefusalCode
  /** How backends name it, in lower case. */
  readonly named: RegExp
  /** How backends say it that have no name for it. */
  readonly pattern: RegExp
}

/** In the order in which they are looked for: a sentence on a filter may quote a prompt that speaks of anything. */
const signs: readonly Sign[] = [
  {
    code: 'insufficient_quota',
    named:
      /^(?:insufficient_(?:quota|balance|credits?|funds)|billing_(?:hard_limit_reached|not_active)|payment_required)$/,
    pattern:
      /credit balance is too low|insufficient (?:account )?(?:balance|credits?|quota|funds)|out of credits|requires more credits/i,
  },
  {
    code: 'content_filter',
    named:
      /^(?:content_filter(?:ed)?|content_policy_violation|moderation_blocked|responsibleaipolicyviolation|data_inspection_failed|prohibited_content)$/,
    pattern:
      /content (?:management |filter(?:ing)? |safety |usage )?polic|content filter|(?:input|prompt|content) (?:was|is|has been|were) (?:flagged|blocked)|safety system|^content violates usage guidelines|^content exists risk/i,
  },
  {
    code: 'context_length_exceeded',
    named:
      /^(?:context_length_exceeded|context_window_exceeded|exceed_context_size_error|model_max_prompt_tokens_exceeded)$/,
    pattern:
      /maximum (?:context|prompt|input|sequence) length|(?:prompt|input) (?:\w+ )?(?:is|are) too long|exceed\w* .{0,60}\bcontext|context (?:length|window|size|limit).{0,40}exceed|input token count.{0,60}exceed|longer than .{0,40}(?:context|model length)|greater than the context length|context length of only|too many (?:input )?tokens|number of input tokens exceeds|exceeded model token limit|inputs\W{1,3}tokens \+ \W?max_new_tokens|range of input length|prompt exceeds max length|input token count is \d+ but/i,
  },
  {
    code: 'invalid_image',
    named:
      /^(?:invalid_(?:base64_)?image(?:_url|_format)?|image_parse_error|unsupported_image(?:_media_type)?|image_too_(?:large|small)|failed_to_download_image)$/,
    pattern:
      /(?:could not|cannot|can't|unable to|failed to) (?:process|decode|identify|load|read|open|parse|download|fetch) (?:the |this |an |input |provided )*image|\bimages?\b.{0,40}(?:exceeds|too large|is not valid|invalid|unsupported|unknown format|corrupt)|(?:invalid|unsupported|malformed) (?:\w+ )?image/i,
  },
  {
    code: 'unsupported_parameter',
    named: /^(?:unsupported_(?:parameter|value)|unknown_parameter|unrecognized_parameter|extra_forbidden)$/,
    pattern:
      /(?:unsupported|unknown|unrecognized|unexpected) (?:request )?(?:parameter|argument|field)|unknown name "|extra inputs are not permitted|(?:parameter|field) .{1,80}(?:is not|isn't|not) supported|is not supported (?:with|by|for) this model/i,
  },
  {
    code: 'request_too_large',
    named: /^(?:request_too_large|payload_too_large|request_entity_too_large)$/,
    pattern: /(?:request|payload|body|entity)(?: \w+){0,3} (?:too large|exceeds)|larger than the (?:maximum|limit)/i,
  },
  {
    code: 'model_not_found',
    named: /^(?:model_not_found|model_not_supported|invalid_model)$/,
    pattern:
      /\bmodels?\b.{1,120}(?:does not exist|(?:was |is )?not found)|not a valid model|(?:unknown|no such) model/i,
  },
]

/** How vendors say by 400 that they have no such model. The name is the operator's, so this is never a caller's fault. */
const missingModel =
  /^(?:the )?model ["'`]?[^\s"'`]{1,200}["'`]? (?:does not exist|(?:was |is )?not found)|^\S{1,200} is not a valid model id|^model not exist|^the provided model identifier is invalid|^invocation of model id \S{1,200} with on-demand throughput isn.t supported/i

/** Characters of a message in which signs are looked for. */
const looked = 4_096

/** What a refusal of this status means; `text` is its body, or the beginning of it. */
export const refusalIn = (status: number, text: string): Refusal => {
  const body = saidIn(text)
  const code = codeOf(status, body)
  const param = code === 'unsupported_parameter' || (code === null && body.param !== null) ? paramOf(body) : null
  return { code, param, sentence: body.message === null ? null : redactedSentence(body.message) }
}

const codeOf = (status: number, { names, message }: RefusalBody): RefusalCode | null => {
  const named = signs.find(({ named }) => names.some((name) => named.test(name)))
  if (named !== undefined) return named.code
  if (status === 413) return 'request_too_large'
  const words = message?.slice(0, looked)
  if (words === undefined) return null
  // A missing model of Anthropic's is said by its type and its name alone.
  if (status === 404 && /^model: /.test(words)) return 'model_not_found'
  const code = signs.find(({ pattern }) => pattern.test(words))?.code ?? null
  if (code !== null && code !== 'model_not_found') return code
  if (missingModel.test(words)) return 'model_not_found'
  // Other sentences on models may speak of a caller's tools and files.
  return status === 400 || status === 422 ? null : code
}

interface RefusalBody {
  readonly names: readonly string[]
  readonly message: string | null
  readonly param: string | null
}

const silent: RefusalBody = { names: [], message: null, param: null }

/** What a body says, in all dialects: an object, one in a list, one under `error`, a list of details, or a text. */
const saidIn = (text: string): RefusalBody => {
  const trimmed = text.trim()
  if (trimmed === '') return silent
  const body = parsed(trimmed)
  // A page is no sentence, and half an object neither.
  if (body === undefined) return /^[<{[]/.test(trimmed) ? silent : { ...silent, message: trimmed }
  return saidBy(body, 3)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A backend that passes on what another one said puts that inside, `deep` times at most. */
const saidBy = (value: unknown, deep: number): RefusalBody => {
  if (typeof value === 'string') return { ...silent, message: value }
  const first = Array.isArray(value) ? value[0] : value
  if (!isJsonObject(first) || deep === 0) return silent
  const inner = saidBy(first['error'] ?? first['detail'] ?? first['innererror'], deep - 1)
  const passed = isJsonObject(first['metadata']) ? first['metadata']['raw'] : undefined
  const raw = typeof passed === 'string' ? saidIn(passed) : saidBy(passed, deep - 1)
  const names = ['code', 'type', 'status', 'err_code', 'reason'].map((name) => first[name]).filter(isText)
  return {
    names: [...raw.names, ...inner.names, ...names.map((name) => name.toLowerCase())],
    message: raw.message ?? inner.message ?? firstText(first, ['message', 'msg', 'err_msg', 'error_message']),
    param: raw.param ?? inner.param ?? firstText(first, ['param']) ?? placeOf(first['loc']),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const firstText = (fields: JsonObject, names: readonly string[]): string | null =>
  names.map((name) => fields[name]).find(isText) ?? null

/** A list of details says where in the request it is. */
const placeOf = (loc: unknown): string | null =>
  Array.isArray(loc) ? loc.filter((part) => part !== 'body').join('.') || null : null

const worded: readonly RegExp[] = [
  /unknown name "([\w.]+)"/i,
  /(?:parameter|argument|field)s?(?: supplied| provided)?:? ?["'`]?([a-z_][\w.[\]]*)["'`]?/i,
  /^["'`]?([a-z_][\w.[\]]*)["'`]?:? (?:extra inputs|is not supported)/i,
]

/** Names of members are words and places in lists. */
const member = /^[a-z_][\w.[\]]{0,63}$/i

const paramOf = ({ param, message }: RefusalBody): string | null => {
  const words = message?.slice(0, looked) ?? ''
  const found = param ?? worded.map((form) => form.exec(words)?.[1]).find((named) => named !== undefined)
  return found !== undefined && member.test(found) && needsNoRedaction(found) ? found : null
}
