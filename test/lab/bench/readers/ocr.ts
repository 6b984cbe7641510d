import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { openImage } from '../../../../plugins/shared/pictures/image.ts'
import { readImagePages } from '../../../../plugins/shared/pictures/ocr.ts'
import { drawn, type Look, looks, path, place, type Written, written } from './ocr-pages.ts'
import { printed } from './program.ts'
import { wordsOf } from './shares.ts'

/** The share of right words on drawn pages, in one language or all, beside the command line of the same engine with the same data. */
export async function* byPicture(only?: string): AsyncGenerator<string> {
  const sums = { ours: 0, theirs: 0, rows: 0 }
  for (const text of written().filter(({ language }) => language === (only ?? language))) {
    const { name, language } = text
    if (dataOf(language, '4.0.0_best_int') === null) {
      yield `${language}: sealgate add ocr ${language} is missing`
      continue
    }
    for (const look of looks) {
      const row = `${language}, ${name}, ${look.size} px, noise ${look.noise}, turned by ${look.turn}`
      const shares = await sharesOf(text, look)
      if (shares === null) {
        yield `${row}: the font ${text.font} is missing`
        continue
      }
      const { ours, sure, theirs } = shares
      sums.ours += ours
      sums.theirs += theirs
      sums.rows++
      yield `${row}: ${ours.toFixed(2)} (sure ${sure.toFixed(2)}), tesseract ${theirs.toFixed(2)}${ours < theirs ? '  BEHIND' : ''}`
    }
    yield await byScriptAlone(text)
  }
  const mean = (sum: number) => (sum / sums.rows).toFixed(3)
  yield `${sums.rows} rows: ${mean(sums.ours)}, tesseract ${mean(sums.theirs)}`
}

const patience = () => AbortSignal.timeout(240_000)

const sharesOf = async (text: Written, look: Look) => {
  const bytes = await drawn(text, look)
  if (bytes === null) return null
  // A page that isn't read in time is a lost row.
  const [reading] = await readImagePages(openImage(bytes), patience(), 1, [text.language]).catch(() => [])
  const right = (read: string | null) => shareIn(read ?? '', text.lines.join('\n'))
  const theirs = Math.max(...(await Promise.all(['3', '1'].map(async (mode) => right(await byCommand(text, mode))))))
  return { ours: right(reading?.text ?? null), sure: reading?.confidence ?? 0, theirs }
}

/** What is read where nobody names a language. */
const byScriptAlone = async (text: Written): Promise<string> => {
  const bytes = await drawn(text, looks[0]!)
  const [reading] = bytes === null ? [] : await readImagePages(openImage(bytes), patience(), 1)
  const right = shareIn(reading?.text ?? '', text.lines.join('\n')).toFixed(2)
  const missing = reading?.missing === undefined ? '' : `, ${reading.missing.command} is missing`
  return `${text.language}, ${text.name}, by its script alone: ${right}, read as ${reading?.language}${missing}`
}

/** By the usual way of finding lines, or (`1`) with the page's orientation before. */
const byCommand = ({ language }: Written, mode: string) => {
  dataOf('osd', '4.0.0')
  return printed('tesseract', ['--tessdata-dir', place, '-l', language, '--oem', '1', '--psm', mode, path, '-'])
}

/** The folder of the data that our engine reads, unpacked for the command line; null where it is not installed. */
const dataOf = (language: string, generation: string): string | null => {
  try {
    const main = createRequire(import.meta.url).resolve(`@tesseract.js-data/${language}`)
    const unpacked = join(place, `${language}.traineddata`)
    mkdirSync(place, { recursive: true })
    if (!existsSync(unpacked))
      writeFileSync(unpacked, gunzipSync(readFileSync(join(dirname(main), generation, `${language}.traineddata.gz`))))
    return place
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}

const shareIn = (read: string, right: string): number => {
  const left = [...wordsOf(read)]
  const words = wordsOf(right)
  const found = words.filter((word) => {
    const at = left.indexOf(word)
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  })
  return found.length / words.length
}
