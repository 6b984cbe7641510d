import { Unconfigured } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import type { Seen } from '../../core/ports/file-content.ts'
import { Reader } from '../../core/ports/reader.ts'
import { cut } from '../shared/cut-pages.ts'
import { openImage } from '../shared/pictures/image.ts'
import { readImagePages } from '../shared/pictures/ocr.ts'
import { kindOf } from './shared/file-kind.ts'

/** Less certain lines are mostly noise, which is worse than no text. */
const leastSure = 0.5

/** Images: OCR reads the text of the first page. Without an OCR engine, an image has no text. */
export default plugin({
  port: Reader,
  name: 'image',
  create: (): Reader<'image'> => ({
    name: 'image',
    kind: 'image',
    fits: (file) => kindOf(file) === 'image',
    async read({ bytes }, signal, { characters = Infinity } = {}) {
      const seen = await see(bytes, 1, signal).catch(unlessMissing)
      const kept = cut(seen.pages, characters)
      const content = { pages: kept.pages, truncated: kept.truncated || seen.truncated }
      const sure = content.pages.filter(({ confidence }) => confidence >= leastSure)
      return { content, sections: sure.map(({ text }) => ({ text, heading: null, page: null })) }
    },
    see: ({ bytes }, pages, signal) => see(bytes, pages, signal),
  }),
})

const see = async (bytes: Uint8Array, pages: number, signal: AbortSignal): Promise<Seen> => {
  signal.throwIfAborted()
  const image = openImage(bytes)
  const readings = await readImagePages(image, signal, pages)
  return {
    pages: readings.map(({ text, confidence }, at) => ({ number: at + 1, text, confidence })),
    truncated: image.pages > readings.length,
  }
}

const unlessMissing = (error: unknown): Seen => {
  if (error instanceof Unconfigured) return { pages: [], truncated: true }
  throw error
}
