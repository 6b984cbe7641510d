import * as v from 'valibot'
import { BadRequest } from '../../core/errors.ts'
import { readerOfKind } from '../../core/find-reader.ts'
import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'
import { Tool } from '../../core/ports/tool.ts'

const page = (meaning: string) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000), v.description(meaning)))

const params = v.object({
  fileId: v.pipe(v.string(), v.maxLength(200), v.description('The id of an uploaded file')),
  from: page('The first page that is read, from 1'),
  to: page('The last page that is read'),
})

const mostCharacters = 400_000

export default plugin({
  port: Tool,
  name: 'getPDFContent',
  needs: { readers: Reader },
  create: ({ readers }): Tool<typeof params> => ({
    name: 'getPDFContent',
    description:
      'The text of a PDF, page by page, with the values of its forms, its comments, links and bookmarks; pages that were scanned, or whose fonts tell no characters, are read with OCR. `from` and `to` choose pages.',
    kind: 'reads-file',
    params,
    async run({ from = 1, to }, signal, file) {
      signal.throwIfAborted()
      if (to !== undefined && to < from)
        throw new BadRequest('No pages', { validator: { to: 'Expected from or more' } })
      const limits = { characters: mostCharacters, from, ...(to !== undefined && { to }) }
      const { content } = await readerOfKind(readers, 'pdf', file).read(file, signal, limits)
      return content
    },
  }),
})
