import * as v from 'valibot'
import { readerThatSees } from '../shared/find-reader.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Reader } from '../../core/ports/reader.ts'
import { Tool } from '../../core/ports/tool.ts'
import { spanOf } from './shared/span.ts'
import { languageNames } from '../shared/pictures/ocr-languages.ts'

const cutting = lazy(() => import('../shared/cut-pages.ts'))

const params = v.object({
  fileId: v.pipe(v.string(), v.maxLength(200), v.description('The id of an uploaded file')),
  from: spanOf('page').from,
  languages: v.optional(
    v.pipe(
      languageNames,
      v.description(
        'Languages of the text by the names of Tesseract, such as deu or chi_sim; the surest reading of a page stands. Without them a page is read in English, and where that is unsure in installed languages of its script',
      ),
    ),
  ),
})

/** Pages of one call: each takes seconds of CPU. */
const mostPages = 50
const mostCharacters = 400_000

export default plugin({
  port: Tool,
  name: 'getFileContentOCR',
  needs: { readers: Reader },
  create: ({ readers }): Tool<typeof params> => ({
    name: 'getFileContentOCR',
    description:
      'The text that OCR reads in an image or on the pages of a PDF. Each page has a confidence from 0 to 1, and the languages of the reading are listed. A row of a ruled table is a line with ` | ` between its cells. One call reads 50 pages at most; `from` reads on where `truncated` is true. `missing` names scripts that no installed language reads, and the command that installs one.',
    kind: 'reads-file',
    params,
    async run({ from = 1, languages }, signal, file) {
      signal.throwIfAborted()
      const seen = await readerThatSees(readers, file).see(file, mostPages, signal, languages, from)
      const { cutPages } = await cutting()
      const { pages, truncated } = cutPages(seen.pages, mostCharacters)
      const { languages: read, missing } = seen
      return {
        ...{ pages, truncated: truncated || seen.truncated },
        ...(read && { languages: read }),
        ...(missing && { missing }),
      }
    },
  }),
})
