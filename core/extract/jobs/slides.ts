import { Unreadable } from '../../errors.ts'
import { formatOf } from '../documents/document-format.ts'
import type { File } from '../documents/document.ts'
import { readOdp } from '../documents/odp.ts'
import { readPptx } from '../documents/pptx.ts'
import type { Slides } from '../documents/slides.ts'

/** Finds out what a presentation is and reads it. */
export default async (file: File): Promise<Slides> => {
  const format = await formatOf(file)
  if (format === 'pptx') return readPptx(file.bytes)
  if (format === 'odp') return readOdp(file.bytes)
  throw new Unreadable()
}
