import type { LiveNews, Running } from './answers.ts'
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
  /** Listens until the signal fires, again after each end. Throws Refused where the key no longer counts. */
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

const feedOf = (): LiveFeed => {
  let seen = new Map<string, Running>()
  let passed = 0
  let processes = 0
  let state = 'Not listening'

  const take = (news: LiveNews): void => {
    remember(seen, news.requests)
    passed += news.passed
    processes = news.processes
  }

  const once = async (gateway: Gateway, path: string): Promise<void> => {
    for await (const { event, data } of gateway.events(path)) {
      if (event === 'listening') {
        state = 'Listening'
        processes = (JSON.parse(data) as LiveNews).processes
      }
      if (event === 'requests') take(JSON.parse(data) as LiveNews)
    }
  }

  return {
    rows: () => [...seen.values()].reverse(),
    find: (id) => seen.get(id) ?? null,
    passed: () => passed,
    processes: () => processes,
    state: () => state,
    async listen(gateway, path, signal) {
      signal.addEventListener(
        'abort',
        () => {
          state = 'Not listening'
          loseEnds(seen)
        },
        { once: true },
      )
      while (!signal.aborted) {
        loseEnds(seen)
        const wait = await once(gateway, path).then(
          () => soon,
          (error: unknown) => {
            if (error instanceof Refused && error.status === 401) throw error
            if (!signal.aborted) state = error instanceof Refused ? error.message : 'The connection broke'
            return later
          },
        )
        await pause(wait, signal)
      }
    },
    forget() {
      seen = new Map()
      passed = 0
    },
  }
}

/** One for the tab: the requests stay while its reader looks at other pages. */
export const liveFeed = feedOf()

/** The address of what the key may hear. */
export const livePath = (operates: boolean): string => pathOf('/admin/live', { organization: operates ? '*' : null })
