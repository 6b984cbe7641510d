import type { DocumentSection } from '../../core/ports/file-content.ts'
import { cutText } from './cut-text.ts'

/** Characters that a section counts at least: a hundred thousand short ones take more room than their texts. */
const leastSection = 100

/** Keeps sections up to a total number of characters, headings included. The last section may be cut. */
export const cutSections = <S extends DocumentSection>(sections: readonly S[], most: number) => {
  const kept: S[] = []
  let left = most
  for (const section of sections) {
    const { heading, text } = section
    const after = left - leastSection
    left -= heading?.length ?? 0
    if (left < 0 || (left === 0 && text !== '')) return { sections: kept, truncated: true }
    kept.push({ ...section, text: cutText(text, left) })
    left -= text.length
    if (left < 0) return { sections: kept, truncated: true }
    left = Math.min(left, after)
  }
  return { sections: kept, truncated: false }
}
