import * as v from 'valibot'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const ids = (meaning: string) =>
  v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(100))), v.maxLength(100), v.description(meaning)))

const params = v.object({
  query: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(1000),
    v.description('What is sought, in words or as a question'),
  ),
  fileIds: ids('The ids of the files that are searched; all indexed files when absent'),
  file_ids: ids('Another spelling of fileIds'),
  limit: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(20), v.description('How many passages come back')),
    5,
  ),
  characters: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(1400), v.description('The longest passage')),
    1400,
  ),
})

export default plugin({
  port: Tool,
  name: 'searchRag',
  create: (): Tool<typeof params> => ({
    name: 'searchRag',
    description:
      'Searches the files that were indexed, or those of them that fileIds names, by words, and by meaning where an embedding model is named: the best passages, with their file, its name, page and heading. Of the files under `outdated` the words alone were searched: their index is of another model.',
    kind: 'retrieval',
    params,
    mostParams: 64 * 1024,
    async run({ query, fileIds, file_ids, limit, characters }, signal, search) {
      signal.throwIfAborted()
      if (fileIds !== undefined && file_ids !== undefined)
        throw new BadRequest('The request has two filters', { validator: twice })
      const hits = await search(query, fileIds ?? file_ids)
      const results = hits.slice(0, limit).map(({ fileId, page, heading = null, title = null, snippet, score }) => {
        const shown = snippet.length > characters ? `${snippet.slice(0, characters).replace(/\s+\S*$/, '')}…` : snippet
        return { fileId, page, heading, title, snippet: shown, score }
      })
      const { outdated = [] } = hits
      return { results, truncated: hits.length > limit, ...(outdated.length > 0 && { outdated }) }
    },
  }),
})

const twice = { file_ids: 'Expected either fileIds or file_ids' }
