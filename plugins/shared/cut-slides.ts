import type { Slide, Slides } from '../../core/ports/file-content.ts'

/** Keeps slides up to a total number of characters. The last slide may be cut. */
export const cutSlides = (slides: readonly Slide[], characters: number): Slides => {
  const kept: Slide[] = []
  let left = characters
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
