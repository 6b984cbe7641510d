import { Unconfigured } from '../../../core/errors.ts'
import { isInstalled, readingIn, readingOf, scriptsOf, type Reading } from './ocr-engine.ts'
import { usualLanguages } from './ocr-languages.ts'
import { chosenFor } from './ocr-scripts.ts'
import { upright } from './ocr-upright.ts'

/** What the process of the engine gets. */
export interface OcrJob {
  readonly images: readonly Uint8Array[]
  /** The surest of them stands for each picture. Null lets the script of the picture decide. */
  readonly languages: readonly string[] | null
}

/** A reading with less confidence than this, and with as many characters, may be of another script. */
const clear = 0.85
const fewCharacters = 20

/** Reads pictures, never with data from the network. */
export default ({ images, languages }: OcrJob): Promise<readonly Reading[]> =>
  languages === null ? byScript(images) : inEach(languages, images)

/** Throws Unconfigured where the data of any language is missing. */
const inEach = async (languages: readonly string[], images: readonly Uint8Array[]): Promise<readonly Reading[]> => {
  let best: readonly Reading[] = []
  for (const language of languages) {
    const readings = await inOrder(language, images)
    best = readings.map((reading, place) => surer(best[place], reading))
  }
  return best
}

const inOrder = (language: string, images: readonly Uint8Array[]): Promise<readonly Reading[]> =>
  readingIn(language, async (read) => {
    const readUpright = upright(read)
    const readings: Reading[] = []
    for (const image of images) readings.push(readingOf(await readUpright(image), language))
    return readings
  })

/** The earlier reading wins a tie. */
const surer = (one: Reading | undefined, other: Reading): Reading =>
  one !== undefined && one.confidence >= other.confidence ? one : other

/** Reads in the usual language; pictures that it reads unsurely are read in the languages of their script, too. */
const byScript = async (images: readonly Uint8Array[]): Promise<readonly Reading[]> => {
  const readings = [...(await inEach(usualLanguages, images))]
  const unsure = [...readings.keys()].filter((place) => isUnsure(readings[place]!))
  const scripts = await scriptsOf(unsure.map((place) => images[place]!)).catch(unlessMissing)
  for (const script of new Set(scripts ?? [])) {
    const places = unsure.filter((_, at) => scripts?.[at] === script)
    const { languages, missing } = await chosenFor(script, isInstalled)
    const others = await inEach(
      languages,
      places.map((place) => images[place]!),
    )
    for (const [at, place] of places.entries()) {
      const own = readings[place]!
      const other = others[at]
      readings[place] = { ...(other === undefined ? own : surer(own, other)), ...(missing !== null && { missing }) }
    }
  }
  return readings
}

/** Fewer characters are specks of a photograph. */
const isUnsure = ({ confidence, text }: Reading): boolean =>
  confidence < clear && text.replace(/\s/g, '').length >= fewCharacters

/** Without the data that tells scripts, pictures are read in the usual language. */
const unlessMissing = (error: unknown): null => {
  if (error instanceof Unconfigured) return null
  throw error
}
