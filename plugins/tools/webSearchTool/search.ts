import { accepted, garbled, readObject } from '../../shared/backend.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'
import { BadRequest, Unconfigured, UpstreamFailed } from '../../../core/errors.ts'
import type { Clock, Fetch } from '../../../core/ports/platform.ts'

/** What a caller searches for. */
export interface Search {
  readonly query: string
  readonly country?: string | undefined
  readonly searchLang?: string | undefined
}

/** The search engine, as the tool's settings choose it. */
export interface ChosenEngine {
  readonly provider?: 'brave' | 'searxng' | undefined
  readonly apiKey?: string | undefined
  readonly baseUrl?: string | undefined
  /** The number of results in an answer. */
  readonly count: number
}

/** Plain text of a stranger, cut to lengths that are named below. */
interface Result {
  readonly title: string
  readonly url: string
  readonly snippet: string
  readonly age?: string
}

/** Always a GET. */
interface SearchRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** The request for one search engine, and the place of the results in its answer. */
interface Engine {
  ask(search: Search, count: number): SearchRequest
  /** Results under the names of Result, with the engine's own values. */
  read(answer: JsonObject): { readonly found: readonly JsonObject[]; readonly more: boolean }
}

/** In ms: the wait for the head of the answer, and for the whole answer. */
const patienceMs = 10_000
const whole = 15_000

/** The results of the chosen engine. */
export const searchWeb = async (
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
  { provider, apiKey, baseUrl, count }: ChosenEngine,
  search: Search,
  signal: AbortSignal,
) => {
  if (provider === undefined) throw missing('provider', 'Expected brave or searxng')
  const engine = provider === 'brave' ? brave(apiKey, baseUrl) : searxng(baseUrl)
  const { url, headers } = engine.ask(search, count)
  const answer = await fetch.upstream(url, {
    method: 'GET',
    headers: { accept: 'application/json', ...headers },
    signal,
    patience: patienceMs,
  })
  const late = clock.alarm(whole, () => answer.discard())
  try {
    const { found, more } = engine.read(await readObject(await accepted(answer, clock)))
    const results = found.map(tidy).filter((result) => result !== null)
    return { results: results.slice(0, count), provider, truncated: more || results.length > count }
  } catch (fault) {
    throw fault instanceof BadRequest ? refused(fault) : fault
  } finally {
    late.off()
  }
}

/** Names the setting that the operator must add. */
const missing = (setting: string, expected: string): Unconfigured =>
  new Unconfigured({ validator: { [`tools.webSearchTool.${setting}`]: expected } })

/** Brave answers an unknown key with 422, and a missing address with 404: both are the operator's faults. */
const refused = (cause: BadRequest): BadRequest | UpstreamFailed => {
  const told = cause.cause instanceof Error ? cause.cause.message : ''
  if (!/\bVALIDATION\b|invalid value/i.test(told) || /subscription.token/i.test(told)) {
    return new UpstreamFailed('The search engine failed', { cause })
  }
  const validator = {
    query: 'Expected at most 400 characters and 50 words',
    country: 'Expected a country that the search engine knows',
    searchLang: 'Expected a language that the search engine knows',
  }
  return new BadRequest('The search engine refused the search', { validator, cause })
}

const brave = (apiKey: string | undefined, baseUrl = 'https://api.search.brave.com/res/v1'): Engine => {
  if (apiKey === undefined) throw missing('apiKey', 'Expected a key of the Brave Search API')
  return {
    ask({ query, country, searchLang }, count) {
      const fields = new URLSearchParams({ q: query, count: String(count) })
      if (country) fields.set('country', country.toUpperCase())
      if (searchLang) fields.set('search_lang', braveLanguage(searchLang.toLowerCase()))
      return { url: `${baseUrl}/web/search?${fields}`, headers: { 'x-subscription-token': apiKey } }
    },
    read({ query, web }) {
      if (query === undefined && web === undefined) throw garbled('The answer is not one of the web search')
      const found = listed((web as JsonObject | undefined)?.['results'])
      return {
        found: found.map((result) => ({
          ...result,
          snippet: result['description'],
          age: result['page_age'] ?? result['age'],
        })),
        more: (query as JsonObject | undefined)?.['more_results_available'] === true,
      }
    },
  }
}

/** Brave knows a few languages only by region or script, and Japanese by its country. */
const regionalLanguages = new Set(['en-gb', 'pt-br', 'pt-pt', 'zh-hans', 'zh-hant'])
const renamed: Readonly<Record<string, string>> = {
  ja: 'jp',
  no: 'nb',
  pt: 'pt-br',
  zh: 'zh-hans',
  'zh-tw': 'zh-hant',
  'zh-hk': 'zh-hant',
}
const braveLanguage = (code: string): string => {
  if (regionalLanguages.has(code)) return code
  const [language = code] = code.split('-')
  return renamed[code] ?? renamed[language] ?? language
}

const searxng = (baseUrl: string | undefined): Engine => {
  if (baseUrl === undefined) throw missing('baseUrl', 'Expected the address of a SearXNG')
  return {
    ask({ query, country, searchLang }) {
      const fields = new URLSearchParams({ q: query, format: 'json' })
      const [language = '', region = country] = searchLang?.split('-') ?? []
      const place = region?.length === 2 ? `-${region.toUpperCase()}` : ''
      if (language) fields.set('language', language.toLowerCase() + place)
      return { url: `${baseUrl}/search?${fields}`, headers: {} }
    },
    read({ results }) {
      if (!Array.isArray(results)) throw garbled('The answer has no results')
      return {
        found: listed(results).map((result) => ({
          ...result,
          snippet: result['content'],
          age: result['publishedDate'],
        })),
        more: false,
      }
    },
  }
}

/** Anything but a list of objects counts as empty. */
const listed = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []

/** Null when the result has no web address. */
const tidy = ({ title, url, snippet, age }: JsonObject): Result | null => {
  if (typeof url !== 'string' || url.length > 2048 || !/^https?:/i.test(url) || !URL.canParse(url)) return null
  return {
    title: plain(title, 300),
    url: new URL(url).href,
    snippet: plain(snippet, 1000),
    ...(typeof age === 'string' && { age: plain(age, 50) }),
  }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** Excerpts come as HTML: tags and half characters are dropped, entities are read, and blanks are joined. */
const plain = (markup: unknown, longest: number): string => {
  if (typeof markup !== 'string') return ''
  const text = markup
    .slice(0, 10_000)
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return entities[name.toLowerCase()] ?? whole
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
    })
    .replace(/\s+/g, ' ')
    .trim()
  const cut = text.length > longest ? `${text.slice(0, longest - 1).trimEnd()}…` : text
  return cut.replace(/\p{Cs}/gu, '')
}
