import type { MissingLanguage } from '../../../core/ports/file-content.ts'
import { usualLanguages } from './ocr-languages.ts'

/** The widespread languages of a script, by the names of Tesseract; the first one stands for the script. */
const languagesOf: Readonly<Record<string, readonly string[]>> = {
  Latin: ['eng', 'deu', 'fra', 'spa', 'ita', 'por', 'nld', 'pol', 'tur', 'ces', 'swe', 'ron', 'hun', 'vie', 'ind'],
  Fraktur: ['frk', 'deu_frak'],
  Cyrillic: ['rus', 'ukr', 'bul', 'srp', 'bel', 'mkd', 'kaz'],
  Greek: ['ell', 'grc'],
  Arabic: ['ara', 'fas', 'urd'],
  Hebrew: ['heb', 'yid'],
  Japanese: ['jpn', 'jpn_vert'],
  Hiragana: ['jpn', 'jpn_vert'],
  Katakana: ['jpn', 'jpn_vert'],
  Han: ['chi_sim', 'chi_tra', 'jpn'],
  Korean: ['kor'],
  Hangul: ['kor'],
  Devanagari: ['hin', 'mar', 'nep'],
  Bengali: ['ben', 'asm'],
  Gujarati: ['guj'],
  Gurmukhi: ['pan'],
  Tamil: ['tam'],
  Telugu: ['tel'],
  Kannada: ['kan'],
  Malayalam: ['mal'],
  Sinhala: ['sin'],
  Thai: ['tha'],
  Lao: ['lao'],
  Khmer: ['khm'],
  Myanmar: ['mya'],
  Armenian: ['hye'],
  Georgian: ['kat'],
  Ethiopic: ['amh', 'tir'],
}

/** Each language costs a reading of the picture. */
const mostLanguages = 3

/** What a script needs beside the usual languages. */
export interface Chosen {
  /** Installed languages of the script beside the usual ones. */
  readonly languages: readonly string[]
  /** Null where a language of the script is installed. */
  readonly missing: MissingLanguage | null
}

/** What reads a script among what is installed. A script that is unknown or unclear needs nothing. */
export const chosenFor = async (
  script: string | null,
  isInstalled: (language: string) => Promise<boolean>,
): Promise<Chosen> => {
  const all = script === null || !Object.hasOwn(languagesOf, script) ? [] : (languagesOf[script] ?? [])
  const there = await Promise.all(all.map(isInstalled))
  const installed = all.filter((_, at) => there[at])
  const missing =
    script === null || all[0] === undefined || installed.length > 0
      ? null
      : { script, language: all[0], command: `sealgate add ocr ${all[0]}` }
  return {
    languages: installed.filter((language) => !usualLanguages.includes(language)).slice(0, mostLanguages),
    missing,
  }
}
