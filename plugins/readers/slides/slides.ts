import type { Slides } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { apart, type Bounds } from '../../shared/run-apart.ts'

/** The slides of a pptx or odp in order of the show, at most 2,000,000 characters. Throws Unreadable. */
export const readSlides = (file: FileToRead, signal: AbortSignal, bounds: Bounds = {}): Promise<Slides> =>
  apart<Slides>('readers/slides/slides-job', { name: file.name, mime: file.mime, bytes: file.bytes }, signal, bounds)
