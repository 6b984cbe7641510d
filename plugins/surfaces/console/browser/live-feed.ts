import type { LiveNews, Running } from './answers.ts'
import type { StreamEvent } from './event-stream.ts'
import { type Gateway, Refused, pathOf } from './gateway.ts'
import { pause } from './page.ts'

/** The requests that this tab has seen, the newest first. */
export interface LiveFeed {
  rows(): readonly Running[]
  find(id: string): Running | null
  /** Requests that the gateway did not show. */
  passed(): number
  /** Processes whose requests are shown; 0 before the first word. */
  processes(): number
  /** What the feed does now, in words. */
  state(): string
  /**
   * Listens for a page until its signal fires, again after each end. Pages that follow each other in one turn share a
   * stream. Throws Refused where the key no longer counts.
   */
  listen(gateway: Gateway, path: string, signal: AbortSignal): Promise<void>
  forget(): void
}

/** Requests that a tab remembers. */
const most = 500
/** Ms before the gateway is asked again: at once after an end, later after a refusal. */
const [soon, later] = [300, 5_000]

const remember = (seen: Map<string, Running>, requests: readonly Running[]): void => {
  for (const request of requests) seen.set(request.id, request)
  for (const id of seen.keys()) {
    if (seen.size <= most) break
    seen.delete(id)
  }
}

/** A request that ran when the tab stopped listening has an end that the tab does not see. */
const loseEnds = (seen: Map<string, Running>): void => {
  for (const [id, request] of seen) if (request.ms === null) seen.set(id, { ...request, lost: true })
}

interface Hearer {
  begins(): void
  hears(event: StreamEvent): void
  fails(words: string): void
}

/** Listens until the signal fires, again after each end. Throws Refused where the key no longer counts. */
const follow = async (gateway: Gateway, path: string, over: AbortSignal, hearer: Hearer): Promise<void> => {
  const once = async (): Promise<void> => {
    for await (const event of gateway.events(path, undefined, over)) hearer.hears(event)
  }
  while (!over.aborted) {
    hearer.begins()
    const wait = await once().then(
      () => soon,
      (error: unknown) => {
        if (error instanceof Refused && error.status === 401) throw error
        if (!over.aborted) hearer.fails(error instanceof Refused ? error.message : 'The connection broke')
        return later
      },
    )
    await pause(wait, over)
  }
}

const feedOf = (): LiveFeed => {
  let seen = new Map<string, Running>()
  let [passed, processes, state] = [0, 0, 'Not listening']
  /** Pages that show the feed. */
  let pages = 0
  let stream: { readonly over: AbortController; readonly ended: Promise<void> } | null = null

  const hearer: Hearer = {
    begins: () => loseEnds(seen),
    hears({ event, data }) {
      if (event !== 'listening' && event !== 'requests') return
      const news = JSON.parse(data) as LiveNews
      processes = news.processes
      if (event === 'listening') return void (state = 'Listening')
      remember(seen, news.requests)
      passed += news.passed
    },
    fails: (words) => void (state = words),
  }

  const begun = (gateway: Gateway, path: string) => {
    const over = new AbortController()
    return { over, ended: follow(gateway, path, over.signal, hearer) }
  }

  const stop = (): void => {
    stream?.over.abort()
    stream = null
    state = 'Not listening'
    loseEnds(seen)
  }

  return {
    rows: () => [...seen.values()].reverse(),
    find: (id) => seen.get(id) ?? null,
    passed: () => passed,
    processes: () => processes,
    state: () => state,
    listen(gateway, path, signal) {
      pages++
      const left = (): void => {
        pages--
        // The next page of the feed begins in the same turn.
        queueMicrotask(() => pages === 0 && stop())
      }
      signal.addEventListener('abort', left, { once: true })
      stream ??= begun(gateway, path)
      return stream.ended
    },
    forget() {
      stop()
      seen = new Map()
      passed = 0
    },
  }
}

/** One for the tab: the requests stay while its reader looks at other pages. */
export const liveFeed = feedOf()

/** The address of what the key may hear. */
export const livePath = (operates: boolean): string => pathOf('/admin/live', { organization: operates ? '*' : null })
