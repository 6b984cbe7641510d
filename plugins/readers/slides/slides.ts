import type { Slides } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { runApart, type JobBounds } from '../../shared/run-apart.ts'

/** The slides of a pptx, odp or ppt in order of the show, at most 2,000,000 characters. Throws Unreadable. */
export const readSlides = (file: FileToRead, signal: AbortSignal, bounds: JobBounds = {}): Promise<Slides> =>
  runApart<Slides>('readers/slides/slides-job', { name: file.name, mime: file.mime, bytes: file.bytes }, signal, bounds)
