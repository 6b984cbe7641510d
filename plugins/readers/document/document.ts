import type { Document } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { apart, type Bounds } from '../../shared/run-apart.ts'

/**
 * The text of a document (docx, odt, rtf, html, epub, md, txt), at most 2,000,000 characters. The bytes decide the
 * format first. Throws Unreadable.
 */
export const readDocument = (file: FileToRead, signal: AbortSignal, bounds: Bounds = {}): Promise<Document> =>
  apart<Document>(
    'readers/document/document-job',
    { name: file.name, mime: file.mime, bytes: file.bytes },
    signal,
    bounds,
  )
