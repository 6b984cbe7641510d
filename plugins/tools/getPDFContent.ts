import * as v from 'valibot'
import { readerOfKind } from '../../core/find-reader.ts'
import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(200), v.description('The id of an uploaded file')) })

const mostCharacters = 400_000

export default plugin({
  port: Tool,
  name: 'getPDFContent',
  needs: { readers: Reader },
  create: ({ readers }): Tool<typeof params> => ({
    name: 'getPDFContent',
    description: 'The text of a PDF, page by page; pages that were scanned are read with OCR.',
    kind: 'reads-file',
    params,
    async run(_params, signal, file) {
      signal.throwIfAborted()
      const { content } = await readerOfKind(readers, 'pdf', file).read(file, signal, { characters: mostCharacters })
      const { pageCount, title, pages, truncated } = content
      return { pageCount, title, pages, truncated }
    },
  }),
})
