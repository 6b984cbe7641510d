import * as v from 'valibot'
import { BaseUrl } from '../shared/base-url.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Clock, Fetch } from '../../core/ports/platform.ts'
import { Tool } from '../../core/ports/tool.ts'
import { countryCode, languageCode } from './shared/codes.ts'

const searching = lazy(() => import('./webSearchTool/search.ts'))

const params = v.object({
  query: v.pipe(v.string(), v.minLength(1), v.maxLength(500)),
  country: v.optional(
    v.pipe(
      v.string(),
      v.description('A country as its code of two letters or its English name'),
      v.transform(countryCode),
      v.regex(/^[a-z]{2}$/i, 'a country'),
    ),
  ),
  searchLang: v.optional(
    v.pipe(
      v.string(),
      v.description('A language as its code or its English name'),
      v.transform(languageCode),
      v.regex(/^[a-z]{2,3}(-[a-z]{2,4})?$/i, 'a language'),
    ),
  ),
})
const mostResults = 20

export default plugin({
  port: Tool,
  name: 'webSearchTool',
  settings: v.strictObject({
    /** Without a provider, the tool reports that it is not configured. */
    provider: v.optional(v.picklist(['brave', 'searxng'])),
    /** The key of Brave's search API. */
    apiKey: v.optional(v.pipe(v.string(), v.minLength(1))),
    /** SearXNG needs an address, and `json` among its `search.formats`. */
    baseUrl: v.optional(BaseUrl),
    /** The number of results in an answer. */
    count: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(mostResults)), 10),
  }),
  needs: { fetch: Fetch, clock: Clock },
  create: (supplied, engine): Tool<typeof params> => ({
    name: 'webSearchTool',
    shortName: 'Web search',
    description: 'Searches the web: titles, addresses and short excerpts of the pages that were found.',
    kind: 'simple',
    clear: true,
    params,
    async run(params, signal) {
      signal.throwIfAborted()
      return (await searching()).searchWeb(supplied, engine, params, signal)
    },
  }),
})
