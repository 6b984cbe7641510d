import type { Document } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { runApart, type JobBounds } from '../../shared/run-apart.ts'

/**
 * The text of a document (docx, odt, rtf, doc, html, epub, md, txt, eml, msg), at most 2,000,000 characters. The bytes decide the
 * format first. Throws Unreadable.
 */
export const readDocument = (file: FileToRead, signal: AbortSignal, bounds: JobBounds = {}): Promise<Document> =>
  runApart<Document>(
    'readers/document/document-job',
    { name: file.name, mime: file.mime, bytes: file.bytes },
    signal,
    bounds,
  )
