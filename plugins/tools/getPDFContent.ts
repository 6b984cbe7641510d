import * as v from 'valibot'
import { readPdf } from '../../core/extract/pictures/pdf.ts'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(200)) })

const mostCharacters = 400_000

export default plugin({
  port: Tool,
  name: 'getPDFContent',
  create: (): Tool<typeof params> => ({
    name: 'getPDFContent',
    description: 'The text of a PDF, page by page; pages that were scanned are read with OCR.',
    kind: 'reads-file',
    params,
    async run(_params, signal, { bytes }) {
      signal.throwIfAborted()
      const { pageCount, title, pages, truncated } = await readPdf({ bytes }, signal, { characters: mostCharacters })
      return { pageCount, title, pages, truncated }
    },
  }),
})
