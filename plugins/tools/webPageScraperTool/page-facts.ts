/** Unproven words of the page. Null where the page says nothing. */
export type About = Readonly<ReturnType<typeof aboutPage>>

/** An absolute address of http or https, without its fragment. */
export interface Link {
  readonly text: string
  readonly url: string
}

/** The page's statements about itself. */
export const aboutPage = (document: Document) => {
  const meta = metaOf(document)
  const first = (names: readonly string[], longest: number) =>
    names.map((name) => line(meta.get(name), longest)).find((text) => text !== null) ?? null
  const text = (selector: string) => line(document.querySelector(selector)?.textContent, 500)
  return {
    title: first(['og:title'], 500) ?? text('title') ?? text('h1'),
    description: first(['description', 'og:description', 'twitter:description'], 1000),
    /** A language tag, in the page's own form. */
    language: line(document.documentElement.getAttribute('lang'), 50) ?? first(['content-language', 'og:locale'], 50),
    /** A date, in the page's own form. */
    published:
      first(['article:published_time', 'datepublished', 'dcterms.created', 'dc.date', 'date', 'pubdate'], 50) ??
      line(document.querySelector('time[datetime]')?.getAttribute('datetime'), 50),
  }
}

/** Names in lower case; the first of several counts. */
const metaOf = (document: Document): ReadonlyMap<string, string> => {
  const facts = new Map<string, string>()
  for (const meta of document.querySelectorAll('meta')) {
    const name = ['property', 'name', 'itemprop', 'http-equiv'].map((key) => meta.getAttribute(key)).find(Boolean)
    const content = meta.getAttribute('content')?.trim()
    if (name && content && !facts.has(name.toLowerCase())) facts.set(name.toLowerCase(), content)
  }
  return facts
}

/** The base for the addresses of a page. */
export const baseOf = (document: Document, url: string): string => {
  const base = document.querySelector('base[href]')?.getAttribute('href') ?? ''
  return URL.canParse(base, url) ? new URL(base, url).href : url
}

/** The web links in a part of a page. Links within the page are left out. */
export const linksOf = (part: ParentNode, base: string): readonly Link[] => {
  const links: Link[] = []
  for (const anchor of part.querySelectorAll('a[href]')) {
    const href = (anchor.getAttribute('href') ?? '').trim()
    if (href.startsWith('#') || !URL.canParse(href, base)) continue
    const url = new URL(href, base)
    url.hash = ''
    if (!/^https?:$/.test(url.protocol) || url.href.length > 2048) continue
    const text = anchor.textContent || anchor.getAttribute('aria-label') || anchor.getAttribute('title')
    links.push({ text: line(text, 200) ?? '', url: url.href })
  }
  return links
}

/** One line of whole characters without blanks at its ends; null when nothing is left. Cutting comes first, as texts may be huge. */
const line = (text: string | null | undefined, longest: number): string | null => {
  const words = text
    ?.slice(0, longest * 4)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, longest)
    .replace(/\p{Cs}/gu, '')
  return words || null
}
