import * as v from 'valibot'
import { Unconfigured } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import type { Seen } from '../../core/ports/file-content.ts'
import { Reader } from '../../core/ports/reader.ts'
import { cutPages } from '../shared/cut-pages.ts'
import { openImage } from '../shared/pictures/image.ts'
import { languageNames } from '../shared/pictures/ocr-languages.ts'
import { languagesOf, readImagePages } from '../shared/pictures/ocr.ts'
import { kindOf } from './shared/file-kind.ts'

/** Less certain lines are mostly noise, which is worse than no text. */
const leastSure = 0.5

/** Images: OCR reads the text of the first page, and ruled tables row by row. Without an OCR engine, an image has no text. */
export default plugin({
  port: Reader,
  name: 'image',
  settings: v.strictObject({
    /** The languages in which pictures are read, by the names of Tesseract. `sealgate add ocr deu` brings others than English. When absent, pictures are read in English, and in installed languages of their script where English is unsure. */
    languages: v.optional(languageNames),
  }),
  create: (_supplied, { languages = null }): Reader<'image'> => ({
    name: 'image',
    kind: 'image',
    fits: (file) => kindOf(file) === 'image',
    async read({ bytes }, signal, { characters = Infinity } = {}) {
      const seen = await see(bytes, 1, signal, languages).catch(unlessMissing)
      const kept = cutPages(seen.pages, characters)
      const content = { pages: kept.pages, truncated: kept.truncated || seen.truncated }
      const sure = content.pages.filter(({ confidence }) => confidence >= leastSure)
      return { content, sections: sure.map(({ text }) => ({ text, heading: null, page: null })) }
    },
    see: ({ bytes }, pages, signal, wanted: readonly string[] | null = languages, from = 1) =>
      see(bytes, pages, signal, wanted, from),
  }),
})

/** Throws Unreadable for bytes that are no image, and Unconfigured without an engine. */
const see = async (
  bytes: Uint8Array,
  pages: number,
  signal: AbortSignal,
  languages: readonly string[] | null,
  from = 1,
): Promise<Seen> => {
  signal.throwIfAborted()
  const image = openImage(bytes)
  const readings = await readImagePages(image, signal, pages, languages, from)
  return {
    ...languagesOf(languages, readings),
    pages: readings.map(({ text, confidence, language }, at) => ({ number: from + at, text, confidence, language })),
    truncated: image.pages >= from + readings.length,
  }
}

/** Without an engine an image has no pages, and counts as truncated. */
const unlessMissing = (error: unknown): Seen => {
  if (error instanceof Unconfigured) return { pages: [], truncated: true }
  throw error
}
