import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { openImage } from '../../../plugins/shared/pictures/image.ts'
import { readImagePages } from '../../../plugins/shared/pictures/ocr.ts'
import { folder } from './documents.ts'
import { printed } from './program.ts'
import { wordsOf } from './shares.ts'

const english = [
  'The harbour master counts the boats each evening,',
  'and writes down how many came with the tide.',
  'In March there were forty, in April fifty-two,',
  'and the quay was mended twice before summer.',
  'Whoever arrives late pays three shillings more',
].join('\n')
const german = [
  'Die Hafenmeisterin zählt jeden Abend die Boote',
  'und schreibt auf, wie viele mit der Flut kamen.',
  'Im März waren es vierzig, im April größere,',
  'über die süße Brühe spricht man später.',
].join('\n')
const russian = ['Смотритель гавани считает лодки каждый вечер', 'и записывает, сколько пришло с приливом.'].join('\n')

interface Picture {
  readonly language: string
  readonly text: string
  /** In pixels of a line. */
  readonly size: number
  /** Standard deviation of the greys, of 255. */
  readonly noise: number
  /** In degrees, against the clock. */
  readonly turn: number
}

const usual: Picture = { language: 'eng', text: english, size: 28, noise: 0, turn: 0 }
const pictures: readonly Picture[] = [
  usual,
  ...[10, 14, 20, 40].map((size) => ({ ...usual, size })),
  ...[20, 40, 60].map((noise) => ({ ...usual, noise })),
  ...[2, 90, 180, 270].map((turn) => ({ ...usual, turn })),
  { ...usual, language: 'deu', text: german },
  { ...usual, language: 'deu', text: german, size: 14, noise: 20 },
  { ...usual, language: 'rus', text: russian },
]

/** The share of right words on drawn pages, beside the command line of the same engine with the same data. */
export async function* byPicture(): AsyncGenerator<string> {
  for (const picture of pictures) {
    const { language, size, noise, turn } = picture
    const row = `${language}, ${size} px, noise ${noise}, turned by ${turn}`
    const data = dataOf(language)
    if (data === null) {
      yield `${row}: sealgate add ocr ${language} is missing`
      continue
    }
    const bytes = await drawn(picture)
    const [reading] = await readImagePages(openImage(bytes), AbortSignal.timeout(120_000), 1, [language])
    const ours = shareIn(reading?.text ?? '', picture.text)
    const theirs = shareIn((await byCommand(language, data)) ?? '', picture.text)
    const sure = reading?.confidence.toFixed(2)
    yield `${row}: ${ours.toFixed(2)} (sure ${sure}), tesseract ${theirs.toFixed(2)}${ours < theirs ? '  BEHIND' : ''}`
  }
}

const place = join(folder, 'ocr')
const path = join(place, 'page.png')

const drawn = async ({ size, noise, turn, text }: Picture): Promise<Uint8Array> => {
  mkdirSync(place, { recursive: true })
  const script = join(process.cwd(), 'test/bench/readers/page.py')
  await printed('/usr/bin/python3', [script, path, `${size}`, `${noise}`, `${turn}`, text])
  return readFileSync(path)
}

const byCommand = (language: string, data: string) =>
  printed('tesseract', ['--tessdata-dir', data, '-l', language, '--oem', '1', path, '-'])

/** The folder of the data that our engine reads, unpacked for the command line; null where it is not installed. */
const dataOf = (language: string): string | null => {
  try {
    const main = createRequire(import.meta.url).resolve(`@tesseract.js-data/${language}`)
    const unpacked = join(place, `${language}.traineddata`)
    mkdirSync(place, { recursive: true })
    if (!existsSync(unpacked))
      writeFileSync(
        unpacked,
        gunzipSync(readFileSync(join(dirname(main), '4.0.0_best_int', `${language}.traineddata.gz`))),
      )
    return place
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}

const shareIn = (read: string, written: string): number => {
  const left = [...wordsOf(read)]
  const words = wordsOf(written)
  const found = words.filter((word) => {
    const at = left.indexOf(word)
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  })
  return found.length / words.length
}
