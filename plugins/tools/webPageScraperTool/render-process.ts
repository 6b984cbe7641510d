import type { Browser, BrowserContext, Page, Request, Route } from 'playwright-core'
import { readdirSync, readFileSync } from 'node:fs'
import { unwantedOptions, offlineOptions, removeInterfaces } from './chromium.ts'
import { optionalPackage } from '../../shared/optional-package.ts'

/** The first message to the driving process. */
export interface RenderJob {
  readonly chromium: string
  readonly url: string
  /** In characters of the page. */
  readonly most: number
  /** In ms until the page is read in its current state. */
  readonly settle: number
}

/** A request of the browser; `page` marks the document of the window. */
export interface BrowserRequest {
  readonly kind: 'want'
  readonly id: number
  readonly page: boolean
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
}

/** The answer to the request with the same id. */
export interface BrowserAnswer {
  readonly id: number
  /** Null when the request is refused. */
  readonly answer: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly bytes: Uint8Array
  } | null
}

/** Requests come first, and exactly one message of another kind ends the conversation. */
export type RenderMessage =
  | BrowserRequest
  | { readonly kind: 'done'; readonly url: string; readonly html: string; readonly cut: boolean }
  | { readonly kind: 'missing' | 'unstarted' | 'failed' }

/** Resources on which the text of a page may depend. */
const loaded = new Set(['document', 'script', 'stylesheet', 'xhr', 'fetch'])
/** Headers of the page's requests that other servers need. */
const travelling = new Set([
  'accept',
  'accept-language',
  'authorization',
  'content-type',
  'origin',
  'referer',
  'x-requested-with',
])
/** Bytes of a request's body; a longer one is never sent. */
const mostBody = 1024 * 1024

/** A browser, or the message that tells why there is none. */
const started = async (given: RenderJob): Promise<Browser | RenderMessage> => {
  const playwright = await optionalPackage('playwright-core', () => import('playwright-core')).catch(() => null)
  if (playwright === null) return { kind: 'missing' }
  return playwright.chromium
    .launch({
      executablePath: given.chromium,
      // Root cannot create a sandbox.
      chromiumSandbox: process.getuid?.() !== 0,
      args: [...offlineOptions],
      ignoreDefaultArgs: [...unwantedOptions],
    })
    .catch(() => ({ kind: 'unstarted' }))
}

/** A page that never rests is read as it stands after `settle` ms. Rejects when the page crashes. */
const render = async (browser: Browser, { url, settle, most }: RenderJob): Promise<RenderMessage> => {
  const context = await browser.newContext({ serviceWorkers: 'block', acceptDownloads: false })
  await context.addInitScript(removeInterfaces)
  await context.routeWebSocket(
    () => true,
    (socket) => socket.close(),
  )
  const page = await context.newPage()
  const crashed = new Promise<never>((_, reject) => page.once('crash', () => reject(new Error('It crashed'))))
  context.on('page', (popup) => void popup.close().catch(() => {}))
  await context.route(
    () => true,
    (route) => serve(route, page).catch(() => {}),
  )
  const stand = async () => {
    await page.goto(url, { waitUntil: 'commit', timeout: settle })
    await page.waitForLoadState('networkidle', { timeout: settle }).catch(() => {})
    return contentOf(context, page, most + 1)
  }
  const html = await Promise.race([stand(), crashed])
  return { kind: 'done', url: page.url(), html: html.slice(0, most), cut: html.length > most }
}

/** This function is all the network of the browser: the gateway answers each request, or it is aborted. */
const serve = async (route: Route, page: Page): Promise<void> => {
  const want = wantOf(route.request(), page)
  const answer = want && (await ask(want))
  if (!answer) return route.abort()
  const { status, headers, bytes } = answer
  await route.fulfill({ status, headers: { ...headers }, body: Buffer.from(bytes) })
}

/** Null for requests that are never sent: pictures, documents in frames, and methods other than GET and POST. */
const wantOf = (request: Request, page: Page): Omit<BrowserRequest, 'kind' | 'id'> | null => {
  const type = request.resourceType()
  const method = request.method()
  const body = request.postDataBuffer()
  if (!loaded.has(type) || (method !== 'GET' && method !== 'POST') || (body?.length ?? 0) > mostBody) return null
  if (type === 'document' && request.frame() !== page.mainFrame()) return null
  const headers = Object.entries(request.headers()).filter(([name]) => travelling.has(name))
  return { page: type === 'document', url: request.url(), method, headers: Object.fromEntries(headers), body }
}

/** Read in an isolated world that the page cannot change, and cut inside the browser. */
const contentOf = async (context: BrowserContext, page: Page, most: number): Promise<string> => {
  const session = await context.newCDPSession(page)
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id })
  const { result } = await session.send('Runtime.evaluate', {
    expression: `document.documentElement.outerHTML.slice(0, ${most})`,
    contextId: executionContextId,
    returnByValue: true,
  })
  if (typeof result.value !== 'string') throw new Error('Nothing stands there')
  return result.value
}

const tell = (told: RenderMessage): Promise<void> => new Promise((done) => process.send?.(told, () => done()))

let requests = 0
const waiting = new Map<number, (answer: BrowserAnswer['answer']) => void>()

/** Resolves with null when the gateway refuses the request. */
const ask = (want: Omit<BrowserRequest, 'kind' | 'id'>): Promise<BrowserAnswer['answer']> =>
  new Promise((resolve) => {
    const id = ++requests
    waiting.set(id, resolve)
    void tell({ kind: 'want', id, ...want })
  })

const work = async (given: RenderJob): Promise<void> => {
  const browser = await started(given)
  if ('kind' in browser) return tell(browser)
  const group = await processOf(browser).catch(() => null)
  const unwatch = group === null ? () => {} : watchMemory(group, () => killAll(group))
  const close = async () => {
    unwatch()
    await browser.close().catch(() => {})
    if (group !== null) killAll(group)
  }
  // The caller has left, or a message from the browser could not be read.
  const end = () => close().finally(() => process.exit())
  if (!process.connected) return end()
  for (const event of ['disconnect', 'uncaughtException']) process.once(event, end)
  const told = await render(browser, given).catch((): RenderMessage => ({ kind: 'failed' }))
  await close()
  await tell(told)
  process.disconnect()
}

/** The number of the browser's process, which also names its group; null where the browser does not tell it. */
const processOf = async (browser: Browser): Promise<number | null> => {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  return processInfo.find(({ type }) => type === 'browser')?.id ?? null
}

/** A busy page outlives its browser for a while. */
const killAll = (group: number): void => {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // No process is left.
  }
}

process.once('message', (given: RenderJob) => {
  process.on('message', ({ id, answer }: BrowserAnswer) => {
    waiting.get(id)?.(answer)
    waiting.delete(id)
  })
  void work(given)
})

/** In bytes, for all processes of one browser together. */
const most = 1024 * 1024 * 1024
/** In ms, between two looks. */
const pace = 100

/** Calls `outgrown` once when a group of processes has more memory of its own than a browser may have. Call the result to stop. */
const watchMemory = (group: number, outgrown: () => void): (() => void) => {
  const look = (): void => {
    if (memoryOf(group) <= most) return
    clearInterval(watch)
    outgrown()
  }
  const watch = setInterval(look, pace)
  return () => clearInterval(watch)
}

/** In bytes: what the processes of a group wrote, without the files that they read. 0 where the system tells nothing. */
const memoryOf = (group: number): number => {
  const processes = read(() => readdirSync('/proc').filter((name) => /^\d+$/.test(name))) ?? []
  return processes.map((process) => ownMemory(process, group)).reduce((sum, bytes) => sum + bytes, 0)
}

const ownMemory = (process: string, group: number): number => {
  const stat = read(() => readFileSync(`/proc/${process}/stat`, 'latin1')) ?? ''
  // The name of a program stands in brackets, and may hold spaces.
  const [, , owner] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (Number(owner) !== group) return 0
  const status = read(() => readFileSync(`/proc/${process}/status`, 'latin1')) ?? ''
  const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].map(([, count]) => Number(count))
  return kilobytes.reduce((sum, count) => sum + count * 1024, 0)
}

/** Null for a process that has just ended. */
const read = <T>(work: () => T): T | null => {
  try {
    return work()
  } catch {
    return null
  }
}
