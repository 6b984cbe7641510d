import * as v from 'valibot'
import { openImage } from '../../core/extract/pictures/image.ts'
import { readImagePages } from '../../core/extract/pictures/ocr.ts'
import { cut, seePdf, type Seen } from '../../core/extract/pictures/pdf.ts'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(200)) })

const mostPages = 50
const mostCharacters = 400_000

export default plugin({
  port: Tool,
  name: 'getFileContentOCR',
  create: (): Tool<typeof params> => ({
    name: 'getFileContentOCR',
    description: 'The text that OCR reads in an image or on the pages of a PDF, with how sure it is from 0 to 1.',
    kind: 'reads-file',
    params,
    async run(_params, signal, { bytes }) {
      signal.throwIfAborted()
      const seen = isPdf(bytes) ? await seePdf(bytes, signal, mostPages) : await seeImage(bytes, signal)
      const { pages, truncated } = cut(seen.pages, mostCharacters)
      return { pages, truncated: truncated || seen.truncated }
    },
  }),
})

/** Readers take a PDF that begins within the first kilobyte. */
const isPdf = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 1024)).includes('%PDF-')

const seeImage = async (bytes: Uint8Array, signal: AbortSignal): Promise<Seen> => {
  const image = openImage(bytes)
  const readings = await readImagePages(image, signal, mostPages)
  return {
    pages: readings.map(({ text, confidence }, at) => ({ number: at + 1, text, confidence })),
    truncated: image.pages > readings.length,
  }
}
