import * as v from 'valibot'
import { type Section, readDocument } from '../../core/extract/documents/document.ts'
import { cutSections } from '../../core/extract/documents/document-writing.ts'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

const params = v.object({ fileId: v.pipe(v.string(), v.maxLength(100)) })

const mostCharacters = 400_000

export default plugin({
  port: Tool,
  name: 'getTextDocumentContent',
  create: (): Tool<typeof params> => ({
    name: 'getTextDocumentContent',
    description:
      'The text of a document (docx, odt, rtf, html, epub, md or txt), in sections under their headings; characters and words count all of it.',
    kind: 'reads-file',
    params,
    async run(_params, signal, file) {
      signal.throwIfAborted()
      const { format, title, sections, truncated } = await readDocument(file, signal)
      const kept = cutSections(sections, mostCharacters)
      return {
        format,
        title,
        ...counted(sections),
        sections: kept.sections,
        truncated: truncated || kept.truncated,
      }
    },
  }),
})

const counted = (sections: readonly Section[]) => {
  let [characters, words] = [0, 0]
  for (const { heading, text } of sections) {
    characters += (heading?.length ?? 0) + text.length
    words += wordsIn(heading ?? '') + wordsIn(text)
  }
  return { characters, words }
}

const wordsIn = (text: string): number => text.match(/[^\s|]+/g)?.length ?? 0
