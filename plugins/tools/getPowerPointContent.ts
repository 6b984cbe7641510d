import * as v from 'valibot'
import { readSlides, type Slide } from '../../core/extract/documents/slides.ts'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({
  fileId: v.pipe(v.string(), v.maxLength(100)),
  /** Those to read, from 1; all when absent. */
  slideNumbers: v.optional(v.pipe(v.array(v.pipe(v.number(), v.integer(), v.minValue(1))), v.maxLength(1_000))),
})

const mostCharacters = 400_000

export default plugin({
  port: Tool,
  name: 'getPowerPointContent',
  create: (): Tool<typeof params> => ({
    name: 'getPowerPointContent',
    description:
      'The titles, texts and speaker notes of the slides of a presentation (pptx or odp), of all of them or of those with the given numbers.',
    kind: 'reads-file',
    params,
    async run({ slideNumbers }, signal, file) {
      signal.throwIfAborted()
      const { slides, truncated } = await readSlides(file, signal)
      const asked = new Set(slideNumbers ?? slides.map(({ number }) => number))
      const kept = cut(slides.filter(({ number }) => asked.has(number)))
      return {
        slideCount: slides.length,
        slides: kept.slides,
        missing: [...asked].filter((number) => number > slides.length),
        truncated: truncated || kept.truncated,
      }
    },
  }),
})

/** The last one may be a part of itself. */
const cut = (slides: readonly Slide[]) => {
  const kept: Slide[] = []
  let left = mostCharacters
  const most = (text: string): string => {
    const part = text.slice(0, Math.max(0, left))
    left -= text.length
    return part
  }
  for (const slide of slides) {
    if (left <= 0) return { slides: kept, truncated: true }
    const { title, text, notes } = slide
    kept.push({ ...slide, title: title && most(title), text: most(text), notes: notes && most(notes) })
  }
  return { slides: kept, truncated: left < 0 }
}
