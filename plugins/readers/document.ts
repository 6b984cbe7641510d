import { plugin } from '../../core/plugin.ts'
import { Reader, type FileToRead } from '../../core/ports/reader.ts'
import { cutSections } from '../shared/cut-sections.ts'
import type { Document } from '../../core/ports/file-content.ts'
import { runApart, type JobBounds } from '../shared/run-apart.ts'
import { kindOf } from './shared/file-kind.ts'

/** Documents: docx, odt, rtf, doc, html, epub, Markdown, plain text, and mails (eml, msg). Reads any file without a reader as text. */
export default plugin({
  port: Reader,
  name: 'document',
  create: (): Reader<'document'> => ({
    name: 'document',
    kind: 'document',
    lastResort: true,
    fits: (file) => kindOf(file) === 'document',
    async read(file, signal, { characters } = {}) {
      signal.throwIfAborted()
      const whole = await readDocument(file, signal)
      const kept = characters === undefined ? whole : cutSections(whole.sections, characters)
      const content = { ...whole, sections: kept.sections, truncated: whole.truncated || kept.truncated }
      return { content, sections: content.sections.map((section) => ({ ...section, page: null })) }
    },
  }),
})

/** The text of a document, at most 2,000,000 characters. The bytes decide the format first. Throws Unreadable. */
export const readDocument = (
  { name, mime, bytes }: FileToRead,
  signal: AbortSignal,
  bounds: JobBounds = {},
): Promise<Document> => runApart<Document>('readers/document/document-job', { name, mime, bytes }, signal, bounds)
