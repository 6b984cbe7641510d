import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import type { Pdf } from '../../core/ports/file-content.ts'
import { Reader, type Section } from '../../core/ports/reader.ts'
import { languageNames } from '../shared/pictures/ocr-languages.ts'
import { readPdf, seePdf } from './pdf/pdf.ts'
import { kindOf } from './shared/file-kind.ts'

/** PDF: the text layer, and scanned pages by OCR. */
export default plugin({
  port: Reader,
  name: 'pdf',
  settings: v.strictObject({
    /** The languages in which scanned pages are read, by the names of Tesseract. `sealgate add ocr deu` brings others than English. When absent, pages are read in English, and in installed languages of their script where English is unsure. */
    languages: v.optional(languageNames),
  }),
  create: (_supplied, { languages = null }): Reader<'pdf'> => ({
    name: 'pdf',
    kind: 'pdf',
    fits: (file) => kindOf(file) === 'pdf',
    async read(file, signal, limits = {}) {
      signal.throwIfAborted()
      const content = await readPdf(file, signal, { ...limits, languages })
      return { content, sections: sectionsOf(content) }
    },
    see: ({ bytes }, pages, signal, wanted: readonly string[] | null = languages, from = 1) =>
      seePdf(bytes, signal, pages, wanted, from),
  }),
})

/** Each page is followed by its form fields and comments. A page with unknown characters is not searched. */
const sectionsOf = ({ pages, forms = [], comments = [] }: Pdf): readonly Section[] =>
  pages.flatMap(({ number, text, untrusted }) => {
    const at = `page ${number}`
    const own = <T extends { readonly at: string | null }>(list: readonly T[]) =>
      list.filter((entry) => entry.at === at)
    const lines = [
      ...own(forms).map(({ name, value }) => `${name}: ${value}`),
      ...own(comments).map(({ text }) => text),
    ]
    const words = [untrusted ? '' : text, ...lines].filter((part) => part !== '').join('\n')
    return [{ text: words, heading: null, page: number }]
  })
