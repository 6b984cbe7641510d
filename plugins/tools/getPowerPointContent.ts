import * as v from 'valibot'
import { readerOfKind } from '../shared/find-reader.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import type { Slide } from '../../core/ports/file-content.ts'
import { Reader } from '../../core/ports/reader.ts'
import { Tool } from '../../core/ports/tool.ts'
import { checkSpan, spanOf } from './shared/span.ts'

const cutting = lazy(() => import('../shared/cut-slides.ts'))

const params = v.object({
  fileId: v.pipe(v.string(), v.maxLength(100), v.description('The id of an uploaded file')),
  slideNumbers: v.optional(
    v.pipe(
      v.array(v.pipe(v.number(), v.integer(), v.minValue(1))),
      v.maxLength(1_000),
      v.description('The slides to read, from 1; all when absent'),
    ),
  ),
  ...spanOf('slide'),
})

const mostCharacters = 400_000
/** Slides that an outline tells at most. */
const mostTold = 2_000

/** Sizes let a caller choose slides that fit. */
const toldOf = ({ number, title, text, notes }: Slide) => ({
  number,
  title: title === null ? null : title.slice(0, 200),
  characters: (title?.length ?? 0) + text.length + (notes?.length ?? 0),
})

export default plugin({
  port: Tool,
  name: 'getPowerPointContent',
  needs: { readers: Reader },
  create: ({ readers }): Tool<typeof params> => ({
    name: 'getPowerPointContent',
    description:
      'The titles, texts and speaker notes of the slides of a presentation (pptx, odp or ppt). The slides are all, those with the given numbers, or those `from` one `to` another. Where all are too much, an outline tells titles and sizes.',
    kind: 'reads-file',
    params,
    mostParams: 32 * 1024,
    async run({ slideNumbers, from = 1, to = Infinity }, signal, file) {
      signal.throwIfAborted()
      checkSpan('No slides', from, to)
      const { cutSlides } = await cutting()
      const { content } = await readerOfKind(readers, 'slides', file).read(file, signal)
      const { slides, truncated, ...beside } = content
      const wanted = new Set(slideNumbers ?? slides.map(({ number }) => number))
      const kept = cutSlides(
        slides.filter(({ number }) => wanted.has(number) && number >= from && number <= to),
        mostCharacters,
      )
      return {
        slideCount: slides.length,
        slides: kept.slides,
        missing: [...wanted].filter((number) => number > slides.length),
        truncated: truncated || kept.truncated,
        ...(kept.truncated && { outline: slides.slice(0, mostTold).map(toldOf) }),
        ...beside,
      }
    },
  }),
})
