import * as v from 'valibot'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { type Hit, Tool } from '../../core/ports/tool.ts'

const ids = (meaning: string) =>
  v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(100))), v.maxLength(100), v.description(meaning)))

/** ISO 8601; a time without a zone is taken in the zone of the process. */
const dayOrTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

const moment = (meaning: string) => v.optional(v.pipe(v.string(), v.regex(dayOrTime), v.description(meaning)))

const whole = (least: number, most: number, meaning: string) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most), v.description(meaning))

const params = v.object({
  query: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(1000),
    v.description('What is sought, in words or as a question'),
  ),
  fileIds: ids('The ids of the files that are searched; all indexed files when absent'),
  file_ids: ids('Another spelling of fileIds'),
  name: v.optional(
    v.pipe(v.string(), v.maxLength(200), v.description('A part of the name of the files that are searched')),
  ),
  from: moment('The first day or time at which the searched files were stored, as 2026-03-01 or 2026-03-01T08:00:00Z'),
  to: moment('The last day, or the time before which they were stored'),
  limit: v.optional(whole(1, 20, 'How many passages come back'), 5),
  characters: v.optional(
    whole(100, 10_000, 'The longest passage; above 1400 it brings what stands around a hit'),
    1400,
  ),
  byFile: v.optional(
    v.pipe(v.boolean(), v.description('Whether passages come in `files`, those of each file together')),
    false,
  ),
})

export default plugin({
  port: Tool,
  name: 'searchRag',
  create: (): Tool<typeof params> => ({
    name: 'searchRag',
    description:
      'Searches the files that were indexed, or those of them that fileIds, name, from and to choose. The search goes by words, and by meaning where an embedding model is named. The result has the best passages, each with file, name, time, page and heading. Of the files under `outdated` the words alone were searched: their index is of another model.',
    kind: 'retrieval',
    params,
    mostParams: 64 * 1024,
    async run({ query, fileIds, file_ids, name, from, to, limit, characters, byFile }, signal, search) {
      signal.throwIfAborted()
      if (fileIds !== undefined && file_ids !== undefined)
        throw new BadRequest('The request has two filters', { validator: twice })
      const hits = await search(query, fileIds ?? file_ids, {
        ...(name !== undefined && { name }),
        ...(from !== undefined && { from: startOf('from', from) }),
        ...(to !== undefined && { to: startOf('to', to) + (isDay(to) ? day : 0) }),
        characters,
      })
      const shown = hits.slice(0, limit)
      const { outdated = [] } = hits
      return {
        ...(byFile
          ? { files: byFiles(shown) }
          : { results: shown.map((hit) => ({ ...fileOf(hit), ...passageOf(hit) })) }),
        truncated: hits.length > limit,
        ...(outdated.length > 0 && { outdated }),
      }
    },
  }),
})

const twice = { file_ids: 'Expected either fileIds or file_ids' }

const day = 86_400_000

const isDay = (text: string): boolean => text.length === 10

/** The begin of a day in UTC, or a time, in ms since 1970. */
const startOf = (parameter: 'from' | 'to', text: string): number => {
  const time = Date.parse(text)
  const written = text.slice(0, 10)
  // A machine takes the 30th of February for a day in March.
  const isReal = !Number.isNaN(time) && new Date(Date.parse(written)).toISOString().startsWith(written)
  if (!isReal)
    throw new BadRequest('The request has an unreal day', { validator: { [parameter]: 'Expected a real day' } })
  return time
}

/** `created` is ISO 8601 in UTC; null where the gateway does not tell it. */
const fileOf = ({ fileId, title = null, created = null }: Hit) => ({
  fileId,
  title,
  created: created === null ? null : new Date(created).toISOString(),
})

/** `page` counts from 1; null when the document has no pages. */
const passageOf = ({ page, heading = null, snippet, score }: Hit) => ({ page, heading, snippet, score })

/** The passages of each file together, files by their best passage. */
const byFiles = (hits: readonly Hit[]) => {
  const files = new Map<string, Hit[]>()
  for (const hit of hits) files.set(hit.fileId, [...(files.get(hit.fileId) ?? []), hit])
  return [...files.values()].map((all) => ({ ...fileOf(all[0]!), passages: all.map(passageOf) }))
}
