import { plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'
import { cutSections } from '../shared/cut-sections.ts'
import { readDocument } from './document/document.ts'
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
