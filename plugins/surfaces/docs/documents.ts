import type { Chapter, Reference } from '../../../core/ports/chapter.ts'
import type { Tool } from '../../../core/ports/tool.ts'
import type { Served } from '../../../core/ports/surface.ts'
import { codes, shared } from '../shared/common-words.ts'
import { front } from './front-chapter.ts'

/** The words of the whole interface, with the chapters of the surfaces that a gateway serves. */
export const referenceOf = (chapters: readonly Chapter[]): Reference => ({
  words: shared,
  codes,
  chapters: [...chapters, front],
})

/** The chapters of the surfaces, with the tools that a gateway has. */
export const chaptersOf = async ({ surfaces }: Served, tools: readonly Tool[]): Promise<readonly Chapter[]> =>
  (await Promise.all([...surfaces.values()].map((surface) => surface.chapter(tools)))).flat()
