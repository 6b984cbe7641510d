import { addressOf } from './address.ts'
import { drillRuns } from './drill-run.ts'
import { append, el, div } from './element.ts'
import { Refused, gatewayAt } from './gateway.ts'
import { jump } from './jump.ts'
import { liveFeed } from './live-feed.ts'
import { isOwnPage, ownMachineOf } from './own-machine.ts'
import type { Page, View } from './page.ts'
import { pages } from './pages.ts'
import { button, heading, note, refusal, link } from './parts.ts'
import type { Pass } from './session.ts'
import { sightOf } from './sight.ts'

/** The console of a reader who is signed in. */
export interface Inside {
  /** The id of the reader's key; null where nobody tells it. */
  readonly key: string | null
  /** Shows the page that the address names, if the reader may see it. */
  turn(): Promise<void>
  /** Forgets what was read. */
  end(): void
}

const never = new AbortController().signal

/** Ms after which the page before leaves the screen. */
const patience = 150

const shown = async (page: Page, view: View, main: HTMLElement, again: () => Promise<void>): Promise<void> => {
  const content = await page.show(view).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 401) throw error
    return [heading(page.title), refusal(error), button('Try again', () => void again())]
  })
  if (view.signal.aborted) return
  main.replaceChildren()
  append(main, [content])
  main.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
  scrollTo(0, 0)
}

/** Says that the page loads where it takes long. The function that comes back ends the wait. */
const loadingIn = (main: HTMLElement, { title }: Page, signal: AbortSignal): (() => void) => {
  const words = () => main.replaceChildren(heading(title), el('p', { class: 'note', role: 'status' }, 'Loading …'))
  const timer = setTimeout(words, patience)
  const end = (): void => clearTimeout(timer)
  signal.addEventListener('abort', end, { once: true })
  return end
}

/** Puts the console around its pages. Throws Refused where the gateway does not take the credential. */
export const enter = async (base: string, pass: Pass, leave: (why: Error | null) => void): Promise<Inside> => {
  const { credential } = pass
  const gateway = gatewayAt(base, credential, never)
  const own = isOwnPage(document) ? await ownMachineOf(gateway) : null
  const sight = await sightOf(gateway)
  const seen = pages.filter(({ sees }) => sees(sight))
  const shell = shellOf(seen, pass, () => leave(null))
  let here = new AbortController()
  const go = (hash: string): void => void (location.hash = hash)

  const turn = async (): Promise<void> => {
    here.abort()
    here = new AbortController()
    const { signal } = here
    const { page: name, path, query } = addressOf(location.hash)
    const page = seen.find((page) => page.name === name)
    shell.at(name)
    document.title = `${page?.title ?? 'Not here'} · sealgate`
    if (page === undefined) {
      shell.main.replaceChildren(heading('Not here'), note('This key sees no such page.'))
      return
    }
    shell.main.setAttribute('aria-busy', 'true')
    const loaded = loadingIn(shell.main, page, signal)
    const view = {
      gateway: gatewayAt(base, credential, signal, own?.gateway),
      sight,
      own,
      path,
      query,
      signal,
      go,
      again: () => void turn(),
      leave,
    }
    await shown(page, view, shell.main, turn).catch((error: unknown) => {
      if (!signal.aborted) leave(error instanceof Error ? error : null)
    })
    loaded()
    if (!signal.aborted) shell.main.removeAttribute('aria-busy')
  }

  const pressed = (event: KeyboardEvent): void => {
    if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || document.querySelector('dialog') !== null) return
    event.preventDefault()
    jump(gatewayAt(base, credential, never), sight, seen)
  }
  addEventListener('keydown', pressed)
  document.body.replaceChildren(...shell.root)
  return {
    key: sight.key,
    turn,
    end() {
      here.abort()
      removeEventListener('keydown', pressed)
      liveFeed.forget()
      drillRuns.forget()
    },
  }
}

interface Shell {
  readonly root: readonly HTMLElement[]
  readonly main: HTMLElement
  /** Marks where the reader is. */
  at(page: string): void
}

/** How the reader is signed in. */
const whoOf = ({ hint }: Pass): HTMLElement =>
  hint === undefined ? el('span', {}, 'Signed in') : el('span', {}, 'Key ', el('code', {}, `…${hint}`))

/** What stands around every page. */
const shellOf = (seen: readonly Page[], pass: Pass, signOut: () => void): Shell => {
  const links = seen.map(({ name, title }) => link(title, `#/${name}`))
  const main = el('main', { id: 'main', tabindex: -1 })
  // A link to the fragment would be taken for a page.
  const skip = button('Skip to the content', () => main.focus(), 'skip')
  const side = el(
    'header',
    { class: 'side' },
    el('p', { class: 'brand' }, 'sealgate'),
    el('nav', { 'aria-label': 'Pages' }, links),
    div('who', whoOf(pass), button('Sign out', signOut, 'quiet')),
  )
  return {
    root: [skip, side, main],
    main,
    at: (page) => {
      for (const [place, link] of seen.entries())
        if (link.name === page) links[place]?.setAttribute('aria-current', 'page')
        else links[place]?.removeAttribute('aria-current')
    },
  }
}
