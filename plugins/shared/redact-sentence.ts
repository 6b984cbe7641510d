import { cutText } from './cut-text.ts'

/** The largest number of characters that callers see of a sentence. */
const mostCharacters = 500
/** Characters that are looked at: what is cut out makes room for what follows. */
const looked = 2_000

/** A sentence on the operator's account is nobody else's matter. */
const accounts = /api[ _-]?key|credential|authenticat|unauthori[sz]ed|\bbearer\b|password|\bbilling\b|\bbalance\b/i

/** Members of requests: a path of them is no host. */
const members = new Set(
  (
    'messages content contents parts part text type role name input instructions tools tool tool_choice tool_calls function functions ' +
    'parameters input_schema properties required items schema json_schema response_format system custom source base64 data media_type url ' +
    'image image_url image_urls file audio input_audio inline_data inlineData tool_use tool_result id arguments thinking budget_tokens ' +
    'generation_config generationConfig cache_control metadata prompt stream stream_options model body detail format reasoning effort value'
  ).split(' '),
)

/** Public interfaces, which sentences name by their path. */
const interfaces = /^\/v1(?:beta)?\/(?:responses|chat\/completions|completions|messages|embeddings)\.?$/

const isPath = (dotted: string): boolean => dotted.split('.').every((part) => /^\d+$/.test(part) || members.has(part))

/** Words that follow the name of an account's part without being an id. */
const plain = new Set(
  'is are was were has have had does do did can cannot may must to or and for of in on at by with from that which who not id ids limit limits quota rate level settings setting admin owner policy default access may only message messages turn turns role input prompt content'.split(
    ' ',
  ),
)

type Cut = readonly [what: RegExp, by: string | ((found: string, ...groups: readonly string[]) => string)]

/** Addresses, hosts, keys and ids, in the order in which they are cut out. */
const cuts: readonly Cut[] = [
  [/\b(?:[a-z][a-z0-9+.-]{1,20}:\/\/|arn:|data:)[^\s"'`<>]+/gi, '[address]'],
  [/[^\s"'`<>@]+@[^\s"'`<>@]+/g, '[address]'],
  [
    /\b(?:projects|organi[sz]ations|accounts|subscriptions|tenants|locations|resourcegroups|deployments)\/[^\s"'`,;]+/gi,
    '[id]',
  ],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '[address]'],
  [/\[?(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}\]?(?::\d+)?/gi, '[address]'],
  [
    /(?<![\w.])(?:[\w-]+\.)+[a-z][a-z0-9-]+\.?(?::\d+)?(?:\/[^\s"'`,;]*)?/gi,
    (found) => (isPath(found.replace(/\.$/, '')) ? found : '[address]'),
  ],
  [/\b[a-z][\w-]*:\d{2,5}\b/gi, '[address]'],
  [/(?<![\w.])(?:\/[\w.@-]+){2,}\/?/g, (found) => (interfaces.test(found) ? found : '[address]')],
  [
    /\b(?:sk|pk|rk|ak|gsk|xai|hf|ghp|key|api|pat|nvapi|aiza|akia|ya29|eyj)[-_.]?[\w*.-]*(?:\*{2,}|\.{3,}|[-_][\w*.-]{3,}|[\w*-]{16,})[\w*.-]*/gi,
    '[key]',
  ],
  [
    /\b(?:org|organi[sz]ation|proj|project|acct|account|user|team|tenant|workspace|ws|cus|sub|req|request|resp|usr)[-_][\w-]+/gi,
    '[id]',
  ],
  [
    /\b(organi[sz]ation|project|account|tenant|workspace|subscription|team|user)((?: (?:id|named?|called))?\s*[:=]?\s*)(?:"[^"]{1,200}"|'[^']{1,200}'|`[^`]{1,200}`)/gi,
    (_, what = '', between = '') => `${what}${between}[id]`,
  ],
  [
    /\b(organi[sz]ation|project|account|tenant|workspace|subscription|team|user|resource group)(?:'s)?((?: (?:id|number|named?|called))?\s*[:=#]?\s*["'`]?)([\w-]+)/gi,
    (found, what = '', between = '', secret = '') =>
      plain.has(secret.toLowerCase()) ? found : `${what}${between}[id]`,
  ],
  [/[A-Za-z0-9+/=_-]{12,}/g, (found) => (isSecret(found) ? '[key]' : found)],
  [/\d{10,}/g, '[id]'],
]

/** Letters and digits without an order, as in keys, hashes and ids; names of models have short parts. */
const isSecret = (text: string): boolean =>
  text
    .split(/[-_/=+]/)
    .some(
      (part) =>
        part.length >= 32 || (part.length >= 8 && /\d/.test(part) && /[a-z]/i.test(part) && !/^\d+[a-z]$/i.test(part)),
    )

/** The sentence without whatever is not the caller's to know; null where nothing of it is. */
export const redactedSentence = (text: string): string | null => {
  const whole = text.replace(/[\p{C}\p{Z}\s]+/gu, ' ').trim()
  if (accounts.test(whole)) return null
  // Half a key at the end is no key any more, so the last word goes.
  const seen = whole.length > looked ? whole.slice(0, looked).replace(/\S*$/, '') : whole
  const cleaned = cuts.reduce((cleaned, [what, by]) => cleaned.replace(what, by as never), seen).trim()
  return cleaned === '' ? null : cutText(cleaned, mostCharacters)
}

/** Whether nothing would be cut out of it. */
export const needsNoRedaction = (text: string): boolean => redactedSentence(text) === text
