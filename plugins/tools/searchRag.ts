import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({
  query: v.pipe(v.string(), v.minLength(1), v.maxLength(1000)),
  fileIds: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(100))), v.maxLength(100))),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(20)), 5),
})

export default plugin({
  port: Tool,
  name: 'searchRag',
  create: (): Tool<typeof params> => ({
    name: 'searchRag',
    description:
      'Searches the files that were indexed, by words and by meaning: the best passages, with file and page.',
    kind: 'retrieval',
    params,
    async run({ query, fileIds, limit }, signal, search) {
      signal.throwIfAborted()
      const hits = await search(query, fileIds)
      const results = hits.slice(0, limit).map(({ fileId, page, snippet, score }) => ({ fileId, page, snippet, score }))
      return { results, truncated: hits.length > limit }
    },
  }),
})
