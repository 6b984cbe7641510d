import { Unreadable } from '../../../core/errors.ts'
import { engine } from '../../../core/optional-package.ts'
import { besideOf, outlineOf, type OpenPdf, type PdfBeside } from './pdf-beside.ts'
import { binaryData, type Fonts } from './pdf-cmaps.ts'
import { isTrusted, tidy } from './pdf-text.ts'

export interface Asked {
  readonly bytes: Uint8Array
  /** The first that is read, from 1. */
  readonly from: number
  /** How many are read. */
  readonly pages: number
  readonly characters: number
}

export interface Page {
  readonly number: number
  /** What its text layer holds. */
  readonly text: string
  /** Points of its longer side. */
  readonly longest: number
  /** Whether all of its text layer was read. */
  readonly whole: boolean
  /** False where its fonts don't say which characters their glyphs are. */
  readonly trusted: boolean
}

export interface Layer {
  readonly pageCount: number
  readonly title: string | null
  /** Without those that come after the last character that may be read. */
  readonly pages: readonly Page[]
  readonly beside: PdfBeside
}

/** Reads the text layer of a PDF, and what stands beside it. */
export default async ({ bytes, from, pages, characters }: Asked): Promise<Layer> => {
  boundBuffers()
  const { getDocumentProxy, getMeta } = await engine('unpdf', () => import('unpdf'))
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

/** The lists of all pages, those that are empty left out. */
const joined = (all: readonly PdfBeside[]): PdfBeside => {
  const lists = (['links', 'comments', 'forms', 'outline'] as const).map(
    (name) => [name, all.flatMap((it) => [...(it[name] ?? [])]).slice(0, mostBeside)] as const,
  )
  return Object.fromEntries(lists.filter(([, list]) => list.length > 0))
}

const mostBeside = 2000

const locked = (cause: Error): never => {
  throw cause.name === 'PasswordException' ? new Unreadable({ flaw: 'password', cause }) : cause
}

const a4 = 842

/** A page that can't be read leaves the others as they are. */
const readPage = async (pdf: OpenPdf, number: number, most: number, fonts: Fonts): Promise<Page> => {
  try {
    const page = await pdf.getPage(number)
    const { width, height } = page.getViewport({ scale: 1 })
    const { raw, whole } = await textOf(page.streamTextContent(), most)
    page.cleanup()
    const trusted = isTrusted(raw) && !fonts.numbered
    return { number, text: tidy(raw), longest: Math.max(width, height), whole, trusted }
  } catch {
    return { number, text: '', longest: a4, whole: false, trusted: true }
  }
}

type Content = Awaited<ReturnType<Awaited<ReturnType<OpenPdf['getPage']>>['getTextContent']>>

const textOf = async (stream: ReadableStream<Content>, most: number) => {
  let raw = ''
  const reader = stream.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return { raw, whole: true }
    for (const item of value.items) if ('str' in item) raw += item.hasEOL ? `${item.str}\n` : item.str
    if (raw.length <= most) continue
    await reader.cancel(new Error('Enough was read'))
    return { raw: raw.slice(0, most), whole: false }
  }
}

const sized = ['Int8', 'Uint8', 'Int16', 'Uint16', 'Int32', 'Uint32', 'Float32', 'Float64'].map((it) => `${it}Array`)

/** Bytes that one stream may unpack to, and all that are held at once. */
const mostUnpacked = 64 * 1024 * 1024
const mostHeld = 256 * 1024 * 1024
/** Bytes from which on it is worth asking how much is held. */
const large = 1024 * 1024

const isTooMuch = (bytes: number): boolean =>
  bytes > mostUnpacked || (bytes > large && process.memoryUsage().arrayBuffers + bytes > mostHeld)

/**
 * The heap limit of the thread does not count what buffers hold, and a stream of a few kilobytes can unpack to any size:
 * here none may be larger, and the way around through the unpackers of Node is closed, as is the one to the network.
 */
const boundBuffers = (): void => {
  const scope = globalThis as unknown as Record<string, (new (...given: unknown[]) => object) | undefined>
  for (const name of ['ArrayBuffer', 'Uint8ClampedArray', ...sized]) {
    const bounded: new (...given: unknown[]) => object = new Proxy(scope[name]!, {
      construct(kind, given: readonly unknown[], made) {
        if (typeof given[0] === 'number' && isTooMuch(given[0])) throw new RangeError()
        // What is made in the name of a proxy is slow to index.
        return Reflect.construct(kind, given, made === bounded ? kind : made) as object
      },
    })
    scope[name] = bounded
  }
  for (const name of ['DecompressionStream', 'fetch']) delete scope[name]
}
