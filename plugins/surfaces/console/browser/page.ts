import type { Child } from './element.ts'
import { type Gateway, Refused } from './gateway.ts'
import type { OwnMachine } from './own-machine.ts'
import type { Sight } from './sight.ts'

/** What a page is shown with, until the reader leaves it. */
export interface View {
  readonly gateway: Gateway
  readonly sight: Sight
  /** What the reader's own machine tells the page that it serves; null for a page of the gateway. */
  readonly own: OwnMachine | null
  /** What stands behind the page's name in the address. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
  /** Aborts when the reader leaves. */
  readonly signal: AbortSignal
  go(hash: string): void
  /** Reads the page again. */
  again(): void
  /** Ends the session: the gateway no longer takes the key. */
  leave(why: Error): void
}

export interface Page {
  readonly name: string
  readonly title: string
  /** Whether the page is there for such a key. */
  sees(sight: Sight): boolean
  show(view: View): Promise<Child>
}

/** Does something every so many ms while the reader looks, and never twice at once. */
export const every = (ms: number, signal: AbortSignal, act: () => Promise<void>): void => {
  let busy = false
  const turn = (): void => {
    if (busy || document.visibilityState !== 'visible') return
    busy = true
    void act().finally(() => (busy = false))
  }
  const timer = setInterval(turn, ms)
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}

/** Reads a page again. A place has the words about that, and the end of the session leaves the page. */
export const reading =
  ({ signal, leave }: Pick<View, 'signal' | 'leave'>, told: HTMLElement, read: () => Promise<void>, done = () => '') =>
  (): Promise<void> =>
    read().then(
      () => void (told.textContent = done()),
      (error: unknown) => {
        if (signal.aborted) return
        told.textContent = 'The last refresh failed'
        if (error instanceof Refused && error.status === 401) leave(error)
      },
    )

/** Whether the reader marks text of a region. */
const isMarked = (region: Element): boolean => {
  const marked = getSelection()
  return marked !== null && !marked.isCollapsed && region.contains(marked.anchorNode)
}

const tablesIn = (region: Element): readonly HTMLElement[] => [...region.querySelectorAll<HTMLElement>('.scroll')]

/**
 * Exchanges what a region shows, unless the reader is in the middle of it; whether it did. A click into a table gives the
 * table the focus, which goes on to the table in its place. A table that the reader has moved sideways stays so.
 */
export const renew = (region: Element, ...content: readonly (Node | string)[]): boolean => {
  const { activeElement: focused } = document
  const before = tablesIn(region)
  const at = before.findIndex((table) => table === focused)
  if (at < 0 && region.contains(focused)) return false
  if (isMarked(region) || region.querySelector('details[open]') !== null) return false
  const words = content.map((part) => (part instanceof Node ? part.textContent : part)).join('')
  // The reader of a screen hears a table again that gets the focus again.
  if (at >= 0 && words === region.textContent) return false
  const lefts = before.map(({ scrollLeft }) => scrollLeft)
  region.replaceChildren(...content)
  const tables = tablesIn(region)
  tables[at]?.focus({ preventScroll: true })
  for (const [place, table] of tables.entries()) if (lefts[place]) table.scrollLeft = lefts[place]
  return true
}

/** Resolves after so many ms, or when the reader leaves. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
