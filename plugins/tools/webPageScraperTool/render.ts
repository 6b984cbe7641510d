import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { giveFilesTo, helperUser } from '../../shared/limited-process.ts'
import { unlessAborted } from '../../../core/abort.ts'
import { Unavailable, Unconfigured } from '../../../core/errors.ts'
import { behindCalls } from '../../shared/behind-calls.ts'
import { fencesFor } from '../../shared/fences.ts'
import { browserLanes } from '../../shared/job-lanes.ts'
import type { Door } from '../../../core/ports/platform.ts'
import { findChromium } from './chromium.ts'
import { pageNotLoaded, type LoadedPage, isHtml } from './page.ts'
import pLimit from 'p-limit'
import { fetchBounded } from './fetch-bounded.ts'
import type { RenderJob, BrowserAnswer, RenderMessage, BrowserRequest } from './render-process.ts'

/** A browser for foreign pages, without a network of its own. */
export interface Renderer {
  /** The page after its scripts have run. All their requests go through the door. */
  render(page: LoadedPage, door: Door, signal: AbortSignal): Promise<LoadedPage>
  /** Resolves when no browser is left. */
  dispose(): Promise<void>
}

/** Characters of the page after its scripts have run. */
const mostCharacters = 4 * 1024 * 1024
/** In ms: the whole time of a page, the time until the page is read, and the time to close a browser. */
const time = 20_000
const settle = 12_000
const closing = 5_000

const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const driver = fileURLToPath(new URL(`./render-process${ending}`, import.meta.url))

/** Which browser is started, and by whom. */
export interface Browsing {
  /** The path of the browser; the first of the usual places when absent. */
  readonly chromium: string | undefined
  /** True when root may start browsers, which then have no sandbox. */
  readonly allowRoot: boolean
  /** The tool whose settings the error names when no browser can start. */
  readonly tool: string
}

/** Starts a browser for each page, behind a driving process that reads all output a page provokes. */
export const makeRenderer = ({ chromium, allowRoot, tool }: Browsing): Renderer => {
  const setting = `tools.${tool}.chromium`
  const over = new AbortController()
  const open = new Set<Promise<LoadedPage>>()
  return {
    async render(page, door, signal) {
      if (process.getuid?.() === 0 && !allowRoot)
        throw new Unconfigured({ validator: { [`tools.${tool}.allowRoot`]: 'Expected true where root runs this' } })
      const path = await findChromium(chromium)
      if (path === null) throw new Unconfigured({ validator: { [setting]: 'Expected the path of a Chromium' } })
      const stop = AbortSignal.any([signal, over.signal])
      const driven = () => {
        const loading = drive({ chromium: path, setting, page, door }, stop)
        open.add(loading)
        return loading.finally(() => open.delete(loading))
      }
      return unlessAborted(browserLanes.run(driven, stop), stop)
    },
    async dispose() {
      over.abort(new Unavailable())
      await Promise.allSettled(open)
    },
  }
}

/** One page for one browser; nothing of it outlives the call. */
interface Order {
  readonly chromium: string
  readonly setting: string
  readonly page: LoadedPage
  readonly door: Door
}

/** Rejects with BadRequest for a page that never rests, and leaves neither process nor folder behind. */
const drive = async ({ chromium, setting, page, door }: Order, signal: AbortSignal): Promise<LoadedPage> => {
  signal.throwIfAborted()
  // One folder holds all files of a browser.
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-browser-'))
  const over = new AbortController()
  const late = AbortSignal.timeout(time)
  const stop = AbortSignal.any([signal, late, over.signal])
  const user = await helperUser()
  await giveFilesTo(user, folder)
  const words = [...(await fencesFor(tmpdir())).words(user), process.execPath, '--max-old-space-size=384', driver]
  const child = spawn(words[0]!, words.slice(1), {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, TMPDIR: folder },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  behindCalls(child)
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).on('error', () => child.pid === undefined && resolve())
  })
  const { have, wasCut } = answerBrowser(page, door, stop)
  try {
    const told = await converse(child, { chromium, url: page.url, most: mostCharacters, settle }, have, stop)
    if (told.kind === 'missing')
      throw new Unconfigured({ validator: { 'playwright-core': 'Expected to be installed' } })
    if (told.kind === 'unstarted')
      throw new Unconfigured({ validator: { [setting]: 'Expected a Chromium that starts' } })
    if (told.kind !== 'done') throw pageNotLoaded('Expected a page that a browser can show')
    const url = /^https?:/.test(told.url) ? told.url : page.url
    const headers = { 'content-type': 'text/html; charset=utf-8' }
    return { ...page, url, headers, bytes: Buffer.from(told.html), cut: told.cut || wasCut() }
  } catch (fault) {
    throw late.aborted && !signal.aborted ? pageNotLoaded('Expected a page that comes to rest', fault) : fault
  } finally {
    over.abort()
    if (child.connected) child.disconnect()
    AbortSignal.timeout(closing).addEventListener('abort', () => child.kill('SIGKILL'))
    await gone
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Resolves with the last message of the driver. */
const converse = (
  child: ChildProcess,
  given: RenderJob,
  have: (want: BrowserRequest) => Promise<BrowserAnswer['answer']>,
  stop: AbortSignal,
): Promise<Exclude<RenderMessage, BrowserRequest>> =>
  new Promise((resolve, reject) => {
    const leave = () => reject(stop.reason)
    stop.addEventListener('abort', leave, { once: true })
    child.once('exit', () => resolve({ kind: 'failed' }))
    child.on('message', async (told: RenderMessage) => {
      if (told.kind !== 'want') return resolve(told)
      const had: BrowserAnswer = { id: told.id, answer: await have(told) }
      if (child.connected) child.send(had)
    })
    child.send(given)
  })

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

/** True when a browser would first send a preflight. The gateway sends none, and then no request either. */
const needsLeave = (url: string, headers: BrowserRequest['headers']): boolean => {
  const { origin, authorization, 'content-type': type, 'x-requested-with': by } = headers
  if (origin === undefined || (URL.canParse(url) && new URL(url).origin === origin)) return false
  return authorization !== undefined || by !== undefined || (type !== undefined && !plain.test(type))
}
