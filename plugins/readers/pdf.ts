import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'
import { readPdf, seePdf } from './pdf/pdf.ts'
import { kindOf } from './shared/file-kind.ts'

/** PDF: the text layer, and scanned pages by OCR. */
export default plugin({
  port: Reader,
  name: 'pdf',
  create: (): Reader<'pdf'> => ({
    name: 'pdf',
    kind: 'pdf',
    fits: (file) => kindOf(file) === 'pdf',
    async read(file, signal, { characters } = {}) {
      signal.throwIfAborted()
      const content = await readPdf(file, signal, characters === undefined ? {} : { characters })
      return { content, sections: content.pages.map(({ number, text }) => ({ text, heading: null, page: number })) }
    },
    see: ({ bytes }, pages, signal) => seePdf(bytes, signal, pages),
  }),
})
