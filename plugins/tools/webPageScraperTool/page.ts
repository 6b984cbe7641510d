import { BadRequest, Unreadable } from '../../../core/errors.ts'
import type { Door } from '../../../core/ports/platform.ts'
import { runApart } from '../../shared/run-apart.ts'
import type { PageJob, Page } from './page-job.ts'
import { fetchBounded, type FetchedPage } from './fetch-bounded.ts'

/** A page as it was received. */
export interface LoadedPage extends FetchedPage {
  readonly html: boolean
}

/** Bytes of the body; a longer page is read up to this point, and its result says so. */
const mostBytes = 4 * 1024 * 1024
const accept = 'text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.9,application/xml;q=0.9,*/*;q=0.1'

/** Fetches a page through the door. Throws BadRequest when the address does not answer with a page. */
export const loadPage = async (door: Door, url: string, signal: AbortSignal): Promise<LoadedPage> => {
  let left = mostBytes
  const fits = (bytes: number) => (left -= bytes) >= 0
  const came = await fetchBounded(
    door,
    url,
    { method: 'GET', headers: { accept }, signal },
    fits,
    (status, headers) => {
      if (status < 200 || status > 299) throw pageNotLoaded('Expected a page that answers')
      if (!isHtml(headers) && !isText(headers)) throw pageNotLoaded(readable)
    },
  ).catch(named)
  if (typeOf(came.headers) !== '') return { ...came, html: isHtml(came.headers) }
  if (came.bytes.includes(0)) throw pageNotLoaded(readable)
  return { ...came, html: /^\s*</.test(new TextDecoder().decode(came.bytes.subarray(0, 256))) }
}

/** The content of a page. Throws BadRequest when the page is unreadable. */
export const readPage = async ({ url, html, headers, bytes, cut }: LoadedPage, signal: AbortSignal): Promise<Page> => {
  const request = { url, html, bytes, contentType: headers['content-type'] ?? '' }
  const read = (article: boolean, time: number) =>
    runApart<Page>('tools/webPageScraperTool/page-job', { ...request, article } satisfies PageJob, signal, { time })
  try {
    // A page that blocks the article search is read as plain text.
    const page = await read(true, 10_000).catch((fault) => {
      if (fault instanceof Unreadable) return read(false, 5_000)
      throw fault
    })
    return { ...page, truncated: page.truncated || cut }
  } catch (cause) {
    throw cause instanceof Unreadable ? pageNotLoaded('Expected a page that can be read', cause) : cause
  }
}

/** A fault of the address that the caller gave, so the error names the field `url`. */
export const pageNotLoaded = (expected: string, cause?: unknown): BadRequest =>
  new BadRequest('The page could not be loaded', { validator: { url: expected }, cause })

/** The door refuses the caller's address, so the error names the field `url`. */
const named = (fault: unknown): never => {
  const unnamed = fault instanceof BadRequest && fault.validator === null
  throw unnamed
    ? new BadRequest(fault.message, { validator: { url: 'Expected a public address' }, cause: fault })
    : fault
}

const readable = 'Expected a page of HTML, text, JSON or XML'

/** True when the headers declare HTML. */
export const isHtml = (headers: FetchedPage['headers']): boolean =>
  /^(text\/html|application\/xhtml\+xml)$/.test(typeOf(headers))

/** A page without a type counts as text until its first bytes are seen. */
const isText = (headers: FetchedPage['headers']): boolean =>
  /^(|text\/.+|application\/([\w.-]+\+)?(json|xml))$/.test(typeOf(headers))

/** In lower case and without parameters; empty when the server names none. */
const typeOf = (headers: FetchedPage['headers']): string =>
  (headers['content-type'] ?? '').split(';', 1).join().trim().toLowerCase()
