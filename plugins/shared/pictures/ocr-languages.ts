import * as v from 'valibot'

/** Languages in which OCR reads each picture in turn, by the names of Tesseract, such as `deu` or `chi_sim`. */
export const languageNames = v.pipe(
  v.array(
    v.pipe(v.string(), v.regex(/^[a-z]{3}(?:_[a-z]{3,4}){0,2}$/, 'a language as Tesseract names it, such as deu')),
  ),
  v.minLength(1),
  v.maxLength(4),
)

/** What comes with the engine, and reads every picture whose languages nobody names. */
export const usualLanguages: readonly string[] = ['eng']
