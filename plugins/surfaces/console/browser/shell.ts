import { el, div } from './element.ts'
import type { Page } from './page.ts'
import { button, link } from './parts.ts'
import type { Pass } from './session.ts'

export interface Shell {
  readonly root: readonly HTMLElement[]
  readonly main: HTMLElement
  /** Marks where the reader is. */
  at(page: string): void
}

/** How the reader is signed in. */
const whoOf = ({ hint }: Pass): HTMLElement =>
  hint === undefined ? el('span', {}, 'Signed in') : el('span', {}, 'Key ', el('code', {}, `…${hint}`))

/** What stands around every page. */
export const shellOf = (seen: readonly Page[], pass: Pass, signOut: () => void): Shell => {
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
