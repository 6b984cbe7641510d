import type { Child } from './element.ts'
import type { Gateway } from './gateway.ts'
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

/** Exchanges what a region shows, unless the reader is in the middle of it. */
export const renew = (region: Element, ...content: readonly (Node | string)[]): void => {
  if (region.contains(document.activeElement) || region.querySelector('details[open]') !== null) return
  region.replaceChildren(...content)
}

/** Resolves after so many ms, or when the reader leaves. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
