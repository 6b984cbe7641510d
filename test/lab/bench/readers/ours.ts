import { readerOf } from '../../../../plugins/shared/find-reader.ts'
import { use } from '../../../../core/plugin.ts'
import { Reader, type Read } from '../../../../core/ports/reader.ts'
import document from '../../../../plugins/readers/document.ts'
import image from '../../../../plugins/readers/image.ts'
import pdf from '../../../../plugins/readers/pdf.ts'
import slides from '../../../../plugins/readers/slides.ts'
import spreadsheet from '../../../../plugins/readers/spreadsheet.ts'
import { fitted } from '../../../fitted.ts'

const { readers } = fitted(use(document), use(image), use(pdf), use(slides), use(spreadsheet)).supply({
  readers: Reader,
})

export const readByUs = (name: string, bytes: Uint8Array, mime = ''): Promise<Read> => {
  const file = { name, mime, bytes }
  return readerOf(readers, file).read(file, AbortSignal.timeout(120_000))
}

/** All the text that tools get of a file: its sections in order, then what stands beside them. */
export const ourText = async (name: string, bytes: Uint8Array): Promise<string | null> => {
  const read = await readByUs(name, bytes).catch(() => null)
  if (read === null) return null
  const texts = read.sections.map(({ heading, text }) => `${heading ?? ''}\n${text}`)
  const { title, links, images, charts, comments, headers, footers, hidden, forms } =
    read.content as unknown as BesideAll
  const beside = [links, images, charts, comments, headers, footers, hidden, forms].flatMap((list) => list ?? [])
  return [...texts, title ?? '', ...beside.map(wordsIn)].join('\n')
}

type BesideAll = Readonly<Record<string, readonly unknown[] | undefined>> & { readonly title?: string }

/** The texts of a value of any depth; addresses are left out. */
const wordsIn = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (value === null || typeof value !== 'object') return ''
  return Object.entries(value)
    .filter(([key]) => key !== 'url' && key !== 'at')
    .map(([, part]) => wordsIn(part))
    .join(' ')
}
