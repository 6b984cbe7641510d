import pLimit from 'p-limit'
import type { Door } from '../../../core/ports/platform.ts'
import { isHtml, type LoadedPage } from './page.ts'
import { fetchBounded } from './fetch-bounded.ts'
import type { BrowserAnswer, BrowserRequest } from './render-process.ts'

/** Requests of one page beside the page itself, and bytes of all their answers together. */
const mostRequests = 100
const mostBytes = 20 * 1024 * 1024
/** Types that a browser posts to another origin without a preflight request. */
const plain = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)(;|$)/i

/** Answers the requests of a browser: first with the loaded page, then through the door within limits. */
export const answerBrowser = (page: LoadedPage, door: Door, signal: AbortSignal) => {
  const hands = pLimit(6)
  let first: LoadedPage | null = page
  let requests = 0
  let left = mostBytes
  let cut = page.cut

  /** Null for a request that the browser may not make. */
  const have = async ({ page, url, method, headers, body }: BrowserRequest): Promise<BrowserAnswer['answer']> => {
    if (page && first) {
      const answer = first
      first = null
      return answer
    }
    if (needsLeave(url, headers)) return null
    if (++requests > mostRequests) {
      cut = true
      return null
    }
    const fits = (bytes: number) => (left -= bytes) >= 0
    const ask = { method, headers, signal, ...(body && { body }) }
    const came = await hands(() => fetchBounded(door, url, ask, fits)).catch(() => null)
    cut ||= left < 0
    // Half a script is useless, and the browser would follow a redirect without any check.
    if (!came || came.cut || (came.status >= 300 && came.status < 400)) return null
    if (page) return isHtml(came.headers) ? came : null
    // The browser would count the answer as the requested origin's, and let the page read it.
    const moved = new URL(came.url).origin !== new URL(url).origin
    return moved && came.headers['access-control-allow-origin'] !== '*' ? null : came
  }
  return { have, wasCut: () => cut }
}

/**
 * True when a browser would first send a preflight request. The gateway sends none, so it does not send the request
 * either.
 */
const needsLeave = (url: string, headers: BrowserRequest['headers']): boolean => {
  const { origin, authorization, 'content-type': type, 'x-requested-with': by } = headers
  if (origin === undefined || (URL.canParse(url) && new URL(url).origin === origin)) return false
  return authorization !== undefined || by !== undefined || (type !== undefined && !plain.test(type))
}
