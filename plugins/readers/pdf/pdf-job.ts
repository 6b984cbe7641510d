import { Unreadable } from '../../../core/errors.ts'
import { optionalPackage } from '../../shared/optional-package.ts'
import { besideOf, outlineOf, type PdfBeside } from './pdf-beside.ts'
import { binaryData, type Fonts } from './pdf-cmaps.ts'
import { joinItems } from './pdf-lines.ts'

/** What the process of the parser gets. */
export interface PdfJob {
  readonly bytes: Uint8Array
  /** The first page to read, from 1. */
  readonly from: number
  /** The number of pages to read. */
  readonly pages: number
  readonly characters: number
}

/** One page of the text layer. */
export interface Page {
  readonly number: number
  /** The text of the page's text layer. */
  readonly text: string
  /** In points: the longer side of the page. */
  readonly longest: number
  /** True when the whole text layer was read. */
  readonly whole: boolean
  /** False when the page's fonts do not map glyphs to characters. */
  readonly trusted: boolean
}

/** What the process gives. */
export interface Layer {
  readonly pageCount: number
  readonly title: string | null
  /** Pages after the limit of characters are left out. */
  readonly pages: readonly Page[]
  readonly beside: PdfBeside
}

/** Reads the text layer of a PDF, its links, comments, forms and outline. */
export default async ({ bytes, from, pages, characters }: PdfJob): Promise<Layer> => {
  boundBuffers()
  const { getDocumentProxy, getMeta } = await optionalPackage('unpdf', () => import('unpdf'))
  const fonts: Fonts = { numbered: false }
  const data = { BinaryDataFactory: binaryData(fonts), cMapUrl: 'made/', cMapPacked: false, useWorkerFetch: false }
  const pdf = await getDocumentProxy(bytes, { verbosity: 0, ...data } as object).catch(locked)
  const { info } = await getMeta(pdf)
  const read: Page[] = []
  const beside: PdfBeside[] = []
  const last = Math.min(from + pages - 1, pdf.numPages)
  for (let number = from, left = characters; number <= last && left > 0; number++) {
    const page = await readPage(pdf, number, left, fonts)
    left -= page.text.length
    read.push(page)
    beside.push(await besideOf(pdf, number))
  }
  const title: unknown = info['Title']
  return {
    pageCount: pdf.numPages,
    title: typeof title === 'string' && title.trim() !== '' ? title.trim().slice(0, 500) : null,
    pages: read,
    beside: joined([...beside, await outlineOf(pdf)]),
  }
}

/** Joins the lists of all pages and leaves out empty ones. */
const joined = (all: readonly PdfBeside[]): PdfBeside => {
  const lists = (['links', 'comments', 'forms', 'outline'] as const).map(
    (name) => [name, all.flatMap((beside) => [...(beside[name] ?? [])]).slice(0, mostBeside)] as const,
  )
  return Object.fromEntries(lists.filter(([, list]) => list.length > 0))
}

/** The entries of one list over all pages. */
const mostBeside = 2000

/** A password is a flaw of its own, since the caller can remove it. */
const locked = (cause: Error): never => {
  throw cause.name === 'PasswordException' ? new Unreadable({ flaw: 'password', cause }) : cause
}

/** In points: the longer side of A4, for a page whose size is unknown. */
const a4 = 842

/** An unreadable page does not affect the other pages. */
const readPage = async (pdf: OpenPdf, number: number, most: number, fonts: Fonts): Promise<Page> => {
  try {
    const page = await pdf.getPage(number)
    const { width, height } = page.getViewport({ scale: 1 })
    const { raw, whole } = await textOf(page.streamTextContent(), most)
    page.cleanup()
    const trusted = isTrusted(raw) && !fonts.numbered
    return { number, text: tidyText(raw), longest: Math.max(width, height), whole, trusted }
  } catch {
    return { number, text: '', longest: a4, whole: false, trusted: true }
  }
}

type OpenPdf = Awaited<ReturnType<typeof import('unpdf').getDocumentProxy>>
type Content = Awaited<ReturnType<Awaited<ReturnType<OpenPdf['getPage']>>['getTextContent']>>

/** Reads at most a little more than `most` characters, and then stops pdf.js. */
const textOf = async (stream: ReadableStream<Content>, most: number) => {
  let raw = ''
  const join = joinItems()
  const reader = stream.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return { raw, whole: true }
    for (const item of value.items) if ('str' in item) raw += join(item)
    if (raw.length <= most) continue
    await reader.cancel(new Error('Enough was read'))
    return { raw: raw.slice(0, most), whole: false }
  }
}

/** The typed arrays whose size is bounded. */
const sized = ['Int8', 'Uint8', 'Int16', 'Uint16', 'Int32', 'Uint32', 'Float32', 'Float64'].map(
  (number) => `${number}Array`,
)

/** In bytes: the unpacked size of one stream, and of all buffers in memory. */
const mostUnpacked = 64 * 1024 * 1024
const mostHeld = 256 * 1024 * 1024
/** In bytes: below this size, the check of memory costs more than it helps. */
const large = 1024 * 1024

const isTooMuch = (bytes: number): boolean =>
  bytes > mostUnpacked || (bytes > large && process.memoryUsage().arrayBuffers + bytes > mostHeld)

/**
 * The thread's heap limit excludes buffers, and a stream of a few kilobytes can unpack to any size. No buffer may
 * exceed the limit here; Node's own unpackers and the network are closed to pdf.js.
 */
const boundBuffers = (): void => {
  const scope = globalThis as unknown as Record<string, (new (...given: unknown[]) => object) | undefined>
  for (const name of ['ArrayBuffer', 'Uint8ClampedArray', ...sized]) {
    const bounded: new (...given: unknown[]) => object = new Proxy(scope[name]!, {
      construct(kind, given: readonly unknown[], made) {
        if (typeof given[0] === 'number' && isTooMuch(given[0])) throw new RangeError()
        // An array constructed through a proxy is slow to index.
        return Reflect.construct(kind, given, made === bounded ? kind : made) as object
      },
    })
    scope[name] = bounded
  }
  for (const name of ['DecompressionStream', 'fetch']) delete scope[name]
}

/** Removes invisible characters and repeated empty lines. */
const tidyText = (text: string): string =>
  text
    .replace(hidden, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

/** Control characters except tab and line feed, and noncharacters. */
const hidden = /[\0-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]/g
/** Characters that fonts use for glyphs without a known character. */
const unknown = /[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffd-\uffff\ue000-\uf8ff]/g

/** The largest share of unknown glyphs in a trusted text: bullets and logos are such glyphs. */
const mostUnknown = 0.1

/** True when the characters of a text layer match the visible page. */
const isTrusted = (raw: string): boolean => {
  const seen = raw.replace(/\s+/g, '').length
  return (raw.match(unknown)?.length ?? 0) <= seen * mostUnknown
}
