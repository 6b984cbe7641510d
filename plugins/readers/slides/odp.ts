import { neededPart } from '../shared/document-parts.ts'
import { documentWriter } from '../shared/document-writing.ts'
import { scanXml } from '../shared/markup.ts'
import { openText } from '../shared/odt.ts'
import { gatherSlides } from './slide-bounds.ts'
import type { Slides } from '../../../core/ports/file-content.ts'
import { unzip } from '../../shared/zip.ts'

const file = 'content.xml'

/** Reads an OpenDocument presentation. */
export const readOdp = async (bytes: Uint8Array): Promise<Slides> => {
  const parts = await unzip(bytes, (name) => name === file)
  const gathered = gatherSlides()
  const hiddenStyles = new Set<string>()
  const frames: (string | null)[] = []
  const writing = documentWriter()
  const text = openText(writing)
  let style = ''
  let hidden = false
  let title = ''
  let notes = ''
  let more = false
  scanXml(neededPart(parts, file), {
    ...text,
    open(name, attribute) {
      if (name === 'style') style = attribute('name') ?? ''
      if (name === 'drawing-page-properties' && attribute('visibility') === 'hidden') hiddenStyles.add(style)
      if (name === 'page') {
        more = gathered.full()
        hidden = hiddenStyles.has(attribute('style-name') ?? '')
        title = notes = ''
        writing.enter()
      }
      if (name === 'notes') writing.enter()
      if (name === 'frame') {
        frames.push(attribute('class'))
        if (placeholderClasses.has(frames.at(-1) ?? '')) writing.enter()
      }
      text.open!(name, attribute)
    },
    close(name) {
      text.close!(name)
      if (name === 'notes') notes = writing.leave()
      if (name === 'page') gathered.add(title, writing.leave(), notes, hidden)
      const kind = name === 'frame' ? (frames.pop() ?? '') : ''
      if (!placeholderClasses.has(kind)) return
      const words = writing.leave()
      if (kind === 'title') title ||= words
    },
    full: () => more || writing.full(),
  })
  return gathered.finish(!more && !writing.full())
}

/** Parts of a slide that are not its text. */
const placeholderClasses = new Set(['title', 'page-number', 'header'])
