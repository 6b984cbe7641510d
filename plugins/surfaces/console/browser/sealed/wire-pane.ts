import { type Child, el, div } from '../element.ts'
import { count } from '../format.ts'
import { note, section } from '../parts.ts'
import type { SeenBody } from './seen-fields.ts'
import type { Exchange } from './wire-watch.ts'

/** What the reader put in and got out, beside the exchanges that carried it. */
export interface Told {
  readonly asked: string
  readonly answered: string
}

const most = 12

const fields = (title: string, { bytes, fields: all }: SeenBody): HTMLElement =>
  div(
    'seen',
    el('h3', {}, `${title}: ${count(bytes)} bytes`),
    el(
      'dl',
      {},
      all
        .slice(0, most)
        .map(({ name, shown }) => el('div', {}, el('dt', {}, name), el('dd', {}, el('code', {}, shown)))),
    ),
    all.length > most && note(`and ${count(all.length - most)} more`),
  )

const exchange = ({ method, path, sent, status, answered }: Exchange): HTMLElement =>
  div(
    'exchange',
    el('p', {}, el('code', {}, `${method} ${path.split('?')[0]}`), ` ${status}`),
    sent.bytes > 0 && fields('Sent', sent),
    fields('Answered', answered),
  )

export interface WirePane {
  readonly node: HTMLElement
  saw(exchange: Exchange): void
  /** Shows a new deed; its exchanges come afterwards. */
  begins(question: string): void
  ends(answered: string): void
}

const column = (title: string, ...content: readonly Child[]): HTMLElement =>
  div('side-by-side', el('h3', {}, title), content)

/** What the reader sees, and what the gateway saw of the same. */
export const wirePane = (): WirePane => {
  const [request, answered] = [
    el('pre', { tabindex: 0, 'aria-label': 'Asked', role: 'region' }),
    el('pre', { tabindex: 0, 'aria-label': 'Answered', role: 'region' }),
  ]
  const seen = el(
    'div',
    { class: 'exchanges', tabindex: 0, role: 'region', 'aria-label': 'What passed the gateway' },
    note('Nothing was sent yet.'),
  )
  let all: readonly Exchange[] = []
  const draw = (): void => seen.replaceChildren(...all.map(exchange))
  return {
    node: section(
      'What the gateway saw',
      div('beside', column('You see', request, answered), column('The gateway sees', seen)),
      note('Beside this it sees who asks, when, and the route. Sizes are rounded up.'),
    ),
    saw(exchange) {
      // The newest exchange of a deed stands first.
      all = [exchange, ...all].slice(0, 4)
      draw()
    },
    begins(words) {
      all = []
      request.textContent = words
      answered.textContent = '…'
      seen.replaceChildren(note('Sealing'))
    },
    ends(words) {
      answered.textContent = words
    },
  }
}
