import type { Reading } from './ocr-engine.ts'
import { type Quarters, turned } from './quarter-turns.ts'

/** A page with lower confidence or fewer characters may be turned, so other sides are tried. */
const sure = 0.6
const fewCharacters = 50
/** In ms, for turning all pictures: a photograph has no text from any side. */
const turningMs = 10_000

/** Tries the sides of a picture until one has text. The next page probably has the same side up. */
export const upright = (read: (image: Uint8Array) => Promise<Reading>) => {
  let likely: Quarters = 0
  let left = turningMs
  return async (image: Uint8Array): Promise<Reading> => {
    let asItLies: Reading | null = null
    for (const quarters of new Set<Quarters>([likely, 0, 1, 3, 2])) {
      if (asItLies !== null && left <= 0) break
      const picture = turned(image, quarters)
      if (picture === null) continue
      const begun = performance.now()
      const reading = await read(picture)
      if (reading.confidence >= sure) {
        likely = quarters
        return reading
      }
      if (quarters === 0) asItLies = reading
      else left -= performance.now() - begun
      if (quarters === likely && reading.text.length < fewCharacters) break
    }
    return asItLies ?? read(image)
  }
}
