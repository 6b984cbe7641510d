import { plugin } from '../../core/plugin.ts'
import type { Slides } from '../../core/ports/file-content.ts'
import { Reader, type FileToRead } from '../../core/ports/reader.ts'
import { cutSlides } from '../shared/cut-slides.ts'
import { kindOf } from './shared/file-kind.ts'
import { runApart, type JobBounds } from '../shared/run-apart.ts'

/** Presentations: pptx, odp and ppt. */
export default plugin({
  port: Reader,
  name: 'slides',
  create: (): Reader<'slides'> => ({
    name: 'slides',
    kind: 'slides',
    fits: (file) => kindOf(file) === 'slides',
    async read(file, signal, { characters } = {}) {
      signal.throwIfAborted()
      const whole = await readSlides(file, signal)
      const kept = characters === undefined ? whole : cutSlides(whole.slides, characters)
      const content = { ...whole, slides: kept.slides, truncated: whole.truncated || kept.truncated }
      return { content, sections: sectionsOf(content) }
    },
  }),
})

/** Notes follow the text of their slide, so that a search finds both. */
const sectionsOf = ({ slides }: Slides) =>
  slides.map(({ number, title, text, notes }) => ({
    text: notes === null ? text : `${text}\n\n${notes}`,
    heading: title,
    page: number,
  }))

/** The slides of a pptx, odp or ppt in order of the show, at most 2,000,000 characters. Throws Unreadable. */
export const readSlides = (file: FileToRead, signal: AbortSignal, bounds: JobBounds = {}): Promise<Slides> =>
  runApart<Slides>('readers/slides/slides-job', { name: file.name, mime: file.mime, bytes: file.bytes }, signal, bounds)
