import type { Pdf } from '../../../core/ports/file-content.ts'

/** The parts of a PDF beside its text; empty parts are absent. */
export type PdfBeside = Pick<Pdf, 'links' | 'comments' | 'forms' | 'outline'>

/** What is asked of an open file here. */
export interface OpenPdf {
  getPage(number: number): Promise<{ getAnnotations(): Promise<readonly unknown[]> }>
  /** Null when the file has no bookmarks. */
  getOutline(): Promise<readonly unknown[] | null>
}

/** In characters: the kept length of a value, a comment or a title. */
const mostCharacters = 4000
/** The largest number of outline entries, and their largest depth. */
const mostEntries = 500
const deepestOutline = 6

type Annotation = Readonly<Record<string, unknown>>

/** The links, comments and form values of a page; empty when the page's annotations are unreadable. */
export const besideOf = async (pdf: OpenPdf, number: number): Promise<PdfBeside> => {
  try {
    const annotations = (await (await pdf.getPage(number)).getAnnotations()) as readonly Annotation[]
    const at = `page ${number}`
    return {
      links: annotations.flatMap((annotation) => {
        const url = textOf(annotation['url'] ?? annotation['unsafeUrl'])
        return url === null ? [] : [{ url, text: textOf(annotation['overlaidText']) ?? '', at }]
      }),
      comments: annotations.flatMap((annotation) => {
        const text = ['Popup', 'Widget', 'Link'].includes(String(annotation['subtype']))
          ? null
          : textOf(inner(annotation['contentsObj']))
        return text === null ? [] : [{ author: textOf(inner(annotation['titleObj'])), text, at }]
      }),
      forms: annotations.flatMap((annotation) => {
        const value = valueOf(annotation)
        return value === null
          ? []
          : [{ name: textOf(annotation['alternativeText']) ?? textOf(annotation['fieldName']) ?? '', value, at }]
      }),
    }
  } catch {
    return {}
  }
}

/** The value of a form field. Null when the field has no value or the button is off. */
const valueOf = (annotation: Annotation): string | null => {
  if (annotation['subtype'] !== 'Widget') return null
  const value = annotation['fieldValue']
  if (annotation['fieldType'] === 'Btn') {
    // Each circle of a radio choice is its own field, and one circle is on.
    const own = annotation['radioButton'] === true ? annotation['buttonValue'] : annotation['exportValue']
    return value !== 'Off' && value === own ? textOf(value) : null
  }
  return textOf(Array.isArray(value) ? value.filter((part) => typeof part === 'string').join(', ') : value)
}

/** A bookmark with the bookmarks below it. */
interface Entry {
  readonly title: string
  readonly items: readonly Entry[]
}

/** The bookmarks of a file, with their depth from 1. Empty when the file has none. */
export const outlineOf = async (pdf: OpenPdf): Promise<PdfBeside> => {
  try {
    return { outline: [...entriesOf((await pdf.getOutline()) as readonly Entry[] | null, 1)].slice(0, mostEntries) }
  } catch {
    return {}
  }
}

function* entriesOf(entries: readonly Entry[] | null, level: number): Generator<{ title: string; level: number }> {
  for (const { title, items } of (entries ?? []).slice(0, mostEntries)) {
    yield { title: title.trim().slice(0, mostCharacters), level }
    if (level < deepestOutline) yield* entriesOf(items, level + 1)
  }
}

/** The text of an object that pdf.js makes of a string. */
const inner = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)['str'] : null

/** Null for blanks alone. */
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, mostCharacters) : null
