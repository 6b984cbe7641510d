import { joinLines, mostText } from '../shared/document-writing.ts'
import type { Slide, Slides } from '../../../core/ports/file-content.ts'

/** Further slides are left out, and the result counts as truncated. */
export const mostSlides = 5_000

/** Collects slides up to a limit of characters. */
export const gatherSlides = () => {
  const slides: Slide[] = []
  let left = mostText
  let cut = false
  return {
    left: () => left,
    full: () => cut || left <= 0 || slides.length >= mostSlides,
    add(title: string, text: string, notes: string, hidden: boolean) {
      const kept = [joinLines(title), text, notes].map((words) => {
        const part = words.slice(0, left)
        cut ||= part.length < words.length
        left -= part.length
        return part
      })
      slides.push({ number: slides.length + 1, title: kept[0] || null, text: kept[1]!, notes: kept[2] || null, hidden })
    },
    finish: (all: boolean): Slides => ({ slides, truncated: cut || !all }),
  }
}
