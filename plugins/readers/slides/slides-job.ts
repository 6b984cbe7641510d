import { Unreadable } from '../../../core/errors.ts'
import { formatOf } from '../shared/document-format.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { besideOdf } from '../shared/beside-odf.ts'
import { besideOoxml } from '../shared/beside-ooxml.ts'
import { readOdp } from './odp.ts'
import { readPpt } from './ppt.ts'
import { readPptx } from './pptx.ts'
import type { Slides } from '../../../core/ports/file-content.ts'

/** Detects the format of a presentation and reads it. */
export default async (file: FileToRead): Promise<Slides> => {
  const format = await formatOf(file)
  if (format === 'pptx') return { ...(await readPptx(file.bytes)), ...(await besideOoxml(file.bytes)) }
  if (format === 'odp') return { ...(await readOdp(file.bytes)), ...(await besideOdf(file.bytes)) }
  if (format === 'ppt') return readPpt(file.bytes)
  throw new Unreadable()
}
