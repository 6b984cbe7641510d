import * as v from 'valibot'
import { readerOfKind } from '../shared/find-reader.ts'
import { freeTurn } from '../../core/dialects/loop-time.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import type { DocumentSection } from '../../core/ports/file-content.ts'
import { Reader } from '../../core/ports/reader.ts'
import { Tool } from '../../core/ports/tool.ts'
import { checkSpan, spanOf } from './shared/span.ts'

const cutting = lazy(() =>
  Promise.all([import('../shared/cut-sections.ts'), import('./getTextDocumentContent/pieces.ts')]),
)

const params = v.object({
  fileId: v.pipe(v.string(), v.maxLength(100), v.description('The id of an uploaded file')),
  ...spanOf('section of the outline'),
})

const mostCharacters = 400_000

export default plugin({
  port: Tool,
  name: 'getTextDocumentContent',
  needs: { readers: Reader },
  create: ({ readers }): Tool<typeof params> => ({
    name: 'getTextDocumentContent',
    description:
      'The text of a document (docx, odt, rtf, doc, html, epub, md or txt) or a mail (eml or msg), in sections under their headings. characters and words count the whole text. Links, described images, charts, comments, headers, footers and hidden text are listed beside the text. A document that is too long has an outline of numbered sections, which `from` and `to` choose.',
    kind: 'reads-file',
    params,
    async run({ from, to }, signal, file) {
      signal.throwIfAborted()
      checkSpan('No sections', from ?? 1, to)
      const [{ cutSections }, { outlineOf, piecesOf }] = await cutting()
      const { content } = await readerOfKind(readers, 'document', file).read(file, signal)
      const { format, title, sections, truncated, ...beside } = content
      const pieces = piecesOf(sections)
      const isAsked = from !== undefined || to !== undefined
      const kept = cutSections(isAsked ? pieces.slice((from ?? 1) - 1, to) : sections, mostCharacters)
      return {
        format,
        title,
        ...(await counted(sections)),
        sections: kept.sections,
        truncated: truncated || kept.truncated,
        ...(kept.truncated && !isAsked && { outline: outlineOf(pieces) }),
        ...beside,
      }
    },
  }),
})

/** Counts the whole document, whatever part of it comes back. */
const counted = async (sections: readonly DocumentSection[]) => {
  let [characters, words] = [0, 0]
  for (const { heading, text } of sections) {
    characters += (heading?.length ?? 0) + text.length
    words += (await wordsIn(heading ?? '')) + (await wordsIn(text))
  }
  return { characters, words }
}

/** Words that are counted in one turn of the loop. */
const turnWords = 20_000

/** Bars part the cells of tables and are no words. A list of millions of words would take many times their bytes. */
const wordsIn = async (text: string): Promise<number> => {
  const word = /[^\s|]+/g
  let words = 0
  while (word.test(text)) if (++words % turnWords === 0) await freeTurn()
  return words
}
