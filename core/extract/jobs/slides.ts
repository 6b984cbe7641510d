import { Unreadable } from '../../errors.ts'
import { formatOf } from '../document-format.ts'
import type { File } from '../document.ts'
import { readOdp } from '../odp.ts'
import { readPptx } from '../pptx.ts'
import type { Slides } from '../slides.ts'

/** Finds out what a presentation is and reads it. */
export default async (file: File): Promise<Slides> => {
  const format = await formatOf(file)
  if (format === 'pptx') return readPptx(file.bytes)
  if (format === 'odp') return readOdp(file.bytes)
  throw new Unreadable()
}
