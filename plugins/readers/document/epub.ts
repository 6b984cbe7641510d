import { posix } from 'node:path'
import { Unreadable } from '../../../core/errors.ts'
import { neededPart } from '../shared/document-parts.ts'
import { documentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import { writeHtml } from './html.ts'
import { guardMarkup, scanXml } from '../shared/markup.ts'
import { decodePage } from '../../shared/charset.ts'
import { unzip } from '../../shared/zip.ts'

const container = 'META-INF/container.xml'
/** Names the sealed parts of a book that is sold for some readers alone. */
const encryption = 'META-INF/encryption.xml'
/** Further pages are left out. */
const mostPages = 5_000

/** Reads the pages of a book in order. */
export const readEpub = async (bytes: Uint8Array): Promise<WrittenDocument> => {
  const about = await unzip(bytes, (name) => name === container || name === encryption)
  const opf = packageOf(neededPart(about, container))
  const book = bookOf(neededPart(await unzip(bytes, (name) => name === opf), opf), opf)
  const wanted = new Set(book.pages)
  const sealed = about.get(encryption)
  // Fonts may be sealed in a book that everybody reads.
  if (sealed && sealedIn(sealed).some((name) => wanted.has(name))) throw new Unreadable({ flaw: 'password' })
  const pages = await unzip(bytes, (name) => wanted.has(name))
  if (pages.size === 0) throw new Unreadable()
  const writing = documentWriter()
  writing.title(book.title)
  for (const name of wanted) {
    const page = pages.get(name)
    if (!page || writing.full()) continue
    const text = decodePage(page, '')
    guardMarkup(text, 'plain')
    writing.part()
    await writeHtml(writing, text)
  }
  return writing.finish()
}

const sealedIn = (bytes: Uint8Array): readonly string[] => {
  const names: string[] = []
  scanXml(bytes, {
    open(name, attribute) {
      if (name === 'CipherReference') names.push(decoded(attribute('URI') ?? ''))
    },
  })
  return names
}

/** The path of the package, as the container of an EPUB names it. */
const packageOf = (bytes: Uint8Array): string => {
  let path = ''
  scanXml(
    bytes,
    {
      open(name, attribute) {
        if (name === 'rootfile') path ||= attribute('full-path') ?? ''
      },
    },
    'plain',
  )
  return path
}

/** The table of contents is read where it is a page of the book. */
const bookOf = (bytes: Uint8Array, opf: string) => {
  const items = new Map<string, string>()
  const pages: string[] = []
  let title = ''
  let titles = 0
  scanXml(
    bytes,
    {
      open(name, attribute) {
        if (name === 'title') titles++
        const href = attribute('href')
        const id = attribute('idref') ?? attribute('id') ?? ''
        if (name === 'item' && href !== null) items.set(id, posix.join(posix.dirname(opf), decoded(href)))
        const page = name === 'itemref' ? items.get(id) : undefined
        if (page !== undefined && pages.length < mostPages) pages.push(page)
      },
      text(text, within) {
        if (within === 'title' && titles === 1) title += text
      },
    },
    'plain',
  )
  return { title, pages }
}

/** A reference without its fragment; a malformed escape stays as it is. */
const decoded = (href: string): string => {
  const path = href.split('#', 1)[0]!
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
