import { optionalPackage } from '../../shared/optional-package.ts'
import { decodePage } from '../../shared/charset.ts'
import { aboutPage, baseOf, linksOf, type About, type Link } from './page-facts.ts'
import { withEnds } from './page-xhtml.ts'
import { bounded, plainText, type PlainText } from './page-text.ts'

/** A task for a process of its own, since foreign markup may make a parser slow or crash it. */
export interface PageJob {
  readonly url: string
  /** The header as the server sent it. */
  readonly contentType: string
  readonly html: boolean
  readonly bytes: Uint8Array
  /** True to search for the article; otherwise the whole text is taken. */
  readonly article: boolean
}

/** What the tool tells of a page. `truncated` is true when text or links were cut. */
export interface Page extends About {
  readonly text: string
  readonly links: readonly Link[]
  readonly truncated: boolean
}

/** Characters of the text, and links. */
const mostText = 200_000
const mostLinks = 200
/** The largest number of elements for the article search, whose time grows faster than the page. */
const mostElements = 60_000

/** Reads a page: its facts, its text and its links. No script runs, and no address of the page is fetched. */
export default async ({ url, contentType, html, bytes, article }: PageJob): Promise<Page> => {
  const decoded = decodePage(bytes, contentType)
  if (!html) return { ...nothing, ...cut(bounded(decoded, mostText)) }
  const source = xhtml.test(contentType) ? withEnds(decoded) : decoded
  const parse = await pageParser()
  const document = parse(source)
  const base = baseOf(document, url)
  const about = aboutPage(document)
  const main = article ? await articleOf(document, () => parse(source)) : null
  const links = distinct([...(main ? linksOf(main.content, base) : []), ...linksOf(document, base)])
  const text = cut(plainText(main?.content ?? document.documentElement, mostText))
  return {
    title: main?.title || about.title,
    description: about.description || main?.excerpt || null,
    language: about.language,
    published: main?.publishedTime || about.published,
    text: text.text,
    links: links.slice(0, mostLinks),
    truncated: text.truncated || links.length > mostLinks,
  }
}

const xhtml = /^\s*application\/xhtml\+xml\b/i

const nothing = { title: null, description: null, language: null, published: null, links: [] }

const cut = ({ text, cut }: PlainText) => ({ text, truncated: cut })

/** Null for a page that is no article or too large. The search destroys its document, so it gets its own copy. */
const articleOf = async (document: Document, copy: () => Document) => {
  const { Readability, isProbablyReaderable } = await optionalPackage(
    '@mozilla/readability',
    () => import('@mozilla/readability'),
  )
  try {
    if (!isProbablyReaderable(document)) return null
    const serializer = (node: Node) => node as Element
    const found = new Readability(copy(), { serializer, maxElemsToParse: mostElements }).parse()
    return found?.content ? { ...found, content: found.content } : null
  } catch {
    return null
  }
}

/** Each address once, at its first place, with its first non-empty text. */
const distinct = (links: readonly Link[]): readonly Link[] => {
  const found = new Map<string, Link>()
  for (const link of links) if (!found.get(link.url)?.text) found.set(link.url, link)
  return [...found.values()]
}

type Parse = (source: string) => Document

/** A page as a browser parses it: `html`, `head` and `body` are there, also where the page leaves them out. */
const pageParser = (): Promise<Parse> => (loading ??= load())

let loading: Promise<Parse> | null = null

const load = async (): Promise<Parse> => {
  const { createDocument } = await optionalPackage('domino', () => import('domino'))
  letIterate(createDocument('', true).querySelectorAll('p'))
  // The library does not know the base of a page. Under this one, addresses stay as they are written.
  const baseURI = { value: 'about:blank' }
  return (source) => Object.defineProperties(createDocument(source, true), { baseURI })
}

/**
 * The library answers simple selectors with a live list, which has no iterator. It gets one over the elements of that
 * moment, since the search of the article removes some while it iterates.
 */
const letIterate = (list: NodeListOf<Element>): void => {
  const value = function (this: ArrayLike<Element>) {
    return Array.prototype.slice.call(this)[Symbol.iterator]()
  }
  Object.defineProperty(Object.getPrototypeOf(list), Symbol.iterator, { value })
}
