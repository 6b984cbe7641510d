/** A resource link in the result of a tool. */
export interface Link {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly mimeType: string
  readonly size: number
}

interface Page {
  readonly link: Link
  readonly text: string
}

/** In characters: the longest text sent at once, its preview when it is longer, and one page of a resource. */
const mostInline = 32_000
const preview = 4_000
const pageLength = 256 * 1024
/** In characters, over all remembered results; the oldest results are dropped first. */
const mostKept = 64 * 1024 * 1024

/** The end of the piece that begins at `from`. A surrogate pair is never split. */
const endOf = (text: string, from: number, length: number): number => {
  const end = Math.min(text.length, from + length)
  const last = text.charCodeAt(end - 1)
  return end < text.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end
}

const linkOf = ({ uri, name, mimeType, size }: Link): object => ({ uri, name, mimeType, size })

/** Long texts as resources of MCP, so that an agent reads what it needs and not all at once. */
export interface LongResults {
  /** The whole text, or its beginning and links to all pages. */
  contentOf(text: string, tool: string): readonly object[]
  /** Links to all remembered pages, oldest first. */
  list(): readonly object[]
  /** Null for a page that never was, or was dropped for newer ones. */
  read(uri: string): object | null
}

/** Pages of results that are too long to send at once. The pages stay in memory only. */
export const longResults = (): LongResults => {
  const pages = new Map<string, Page>()
  let [count, kept] = [0, 0]

  const forgetOldest = (): void => {
    const [oldest] = pages
    if (oldest === undefined) return
    kept -= oldest[1].text.length
    pages.delete(oldest[0])
  }

  const turned = (text: string, tool: string): readonly Link[] => {
    const links: Link[] = []
    count++
    for (let from = 0; from < text.length;) {
      const end = endOf(text, from, pageLength)
      const page = text.slice(from, end)
      const uri = `sealgate://results/${count}/${links.length + 1}`
      const name = `${tool} ${count}, page ${links.length + 1}`
      const link: Link = { type: 'resource_link', uri, name, mimeType: 'text/plain', size: Buffer.byteLength(page) }
      pages.set(uri, { link, text: page })
      kept += page.length
      links.push(link)
      from = end
    }
    while (kept > mostKept) forgetOldest()
    return links
  }

  return {
    contentOf(text, tool) {
      if (text.length <= mostInline) return [{ type: 'text', text }]
      const links = turned(text, tool)
      const begun = text.slice(0, endOf(text, 0, preview))
      const told = `The result has ${text.length} characters; this is its beginning, and ${links.length} resources hold all of it.`
      return [{ type: 'text', text: begun }, { type: 'text', text: told }, ...links]
    },
    list: () => [...pages.values()].map(({ link }) => linkOf(link)),
    read(uri) {
      const page = pages.get(uri)
      return page === undefined ? null : { uri, mimeType: page.link.mimeType, text: page.text }
    },
  }
}
