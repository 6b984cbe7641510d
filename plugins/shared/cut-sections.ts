import type { DocumentSection } from '../../core/ports/file-content.ts'

/** Keeps sections up to a total number of characters, headings included. The last section may be cut. */
export const cutSections = (sections: readonly DocumentSection[], most: number) => {
  const kept: DocumentSection[] = []
  let left = most
  for (const { heading, text } of sections) {
    left -= heading?.length ?? 0
    if (left < 0 || (left === 0 && text !== '')) return { sections: kept, truncated: true }
    kept.push({ heading, text: text.slice(0, left).replace(/[\ud800-\udbff]$/, '') })
    left -= text.length
    if (left < 0) return { sections: kept, truncated: true }
  }
  return { sections: kept, truncated: false }
}
