import * as v from 'valibot'
import { readerOfKind } from '../shared/find-reader.ts'
import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'
import { Tool } from '../../core/ports/tool.ts'
import { checkSpan, spanOf } from './shared/span.ts'

const params = v.object({
  fileId: v.pipe(v.string(), v.maxLength(200), v.description('The id of an uploaded file')),
  ...spanOf('page'),
})

const mostCharacters = 400_000

export default plugin({
  port: Tool,
  name: 'getPDFContent',
  needs: { readers: Reader },
  create: ({ readers }): Tool<typeof params> => ({
    name: 'getPDFContent',
    description:
      'The text of a PDF, page by page, with the values of its forms, its comments, links and bookmarks. OCR reads pages that were scanned, or whose fonts tell no characters. `from` and `to` choose pages.',
    kind: 'reads-file',
    params,
    async run({ from = 1, to }, signal, file) {
      signal.throwIfAborted()
      checkSpan('No pages', from, to)
      const limits = { characters: mostCharacters, from, ...(to !== undefined && { to }) }
      const { content } = await readerOfKind(readers, 'pdf', file).read(file, signal, limits)
      return content
    },
  }),
})
