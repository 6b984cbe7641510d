import { type Attributes, type Child, el, freshId, div } from './element.ts'
import { Refused } from './gateway.ts'

export const heading = (title: string, ...beside: readonly Child[]): HTMLElement =>
  el('header', { class: 'title' }, el('h1', { tabindex: -1 }, title), div('actions', beside))

export const section = (title: string, ...content: readonly Child[]): HTMLElement =>
  el('section', { class: 'card' }, el('h2', {}, title), content)

/** Parts one below the other. */
export const stack = (...content: readonly Child[]): HTMLElement => div('stack', content)

/** A place for words about what goes on, which are announced. */
export const toldPlace = (): HTMLElement => el('span', { class: 'told', role: 'status' })

export const note = (...words: readonly Child[]): HTMLElement => el('p', { class: 'note' }, words)

/** What a badge shows: the colour of its lamp, and its words. */
export interface Lamp {
  readonly kind: 'good' | 'mixed' | 'bad' | 'idle'
  readonly words: string
}

export const badge = (kind: string, words: string): HTMLElement =>
  el('span', { class: `badge ${kind}` }, el('span', { class: 'lamp', 'aria-hidden': 'true' }), words)

/** What a press begins; a promise lasts as long as the work. */
type Act = () => void | Promise<void>

/** Work that a control does once at a time: a second press does nothing, and the control keeps the focus. */
const onceAtATime = (control: () => Element | null, act: Act): (() => Promise<void>) => {
  let isBusy = false
  return async () => {
    if (isBusy) return
    const work = act()
    if (!(work instanceof Promise)) return
    isBusy = true
    control()?.setAttribute('aria-disabled', 'true')
    await work.finally(() => {
      isBusy = false
      control()?.removeAttribute('aria-disabled')
    })
  }
}

export const button = (words: string, act: Act, kind = ''): HTMLButtonElement => {
  const press = onceAtATime(() => own, act)
  const own: HTMLButtonElement = el('button', { type: 'button', class: kind, on: { click: () => void press() } }, words)
  return own
}

export const link = (words: Child, hash: string, kind = ''): HTMLAnchorElement =>
  el('a', { href: hash, class: kind }, words)

/** Addresses of one choice; one of them is here. */
export const tabs = (
  label: string,
  all: readonly (readonly [words: string, hash: string, here: boolean])[],
): HTMLElement =>
  el(
    'div',
    { class: 'tabs', role: 'group', 'aria-label': label },
    all.map(([words, hash, here]) => el('a', { href: hash, 'aria-current': here ? 'true' : null }, words)),
  )

/** A sentence whose words in backticks are code. */
export const prose = (text: string): readonly Child[] =>
  text.split(/\x60([^\x60]+)\x60/).map((part, at) => (at % 2 === 1 ? el('code', {}, part) : part))

/** An input under its label, with a hint below. */
export const field = (label: string, hint: string, input: HTMLElement): HTMLElement => {
  const [id, hintId] = [freshId('field'), freshId('hint')]
  input.id = id
  input.setAttribute('aria-describedby', hintId)
  return div('field', el('label', { for: id }, label), input, el('small', { id: hintId }, hint))
}

/** Fields of dates. A choice of the calendar counts at once, typing with Enter or behind the last field: each key is a change. */
export const dateFields = (place: HTMLElement, choose: () => void): HTMLElement => {
  let isTyped = false
  place.addEventListener('keydown', ({ key }) => {
    isTyped = key !== 'Enter'
    if (!isTyped) choose()
  })
  place.addEventListener('pointerdown', () => (isTyped = false))
  place.addEventListener('change', () => isTyped || choose())
  place.addEventListener('focusout', ({ relatedTarget }) => {
    if (isTyped && !place.contains(relatedTarget as Node | null)) choose()
  })
  return place
}

/** A choice among values, each with its words. */
export const select = (
  attributes: Attributes,
  options: readonly (readonly [value: string | number, words: string])[],
  chosen?: string | number | null,
): HTMLSelectElement =>
  el(
    'select',
    attributes,
    options.map(([value, words]) => el('option', { value, selected: value === chosen }, words)),
  )

/** A form that stays on its page; `send` begins with a click on its button. */
export const form = (send: Act, ...content: readonly Child[]): HTMLFormElement => {
  const press = onceAtATime(() => own.querySelector('button[type=submit]'), send)
  const own: HTMLFormElement = el(
    'form',
    { on: { submit: (event) => (event.preventDefault(), void press()) } },
    content,
  )
  return own
}

/** The button that sends a form, with what stands beside it. */
export const sending = (words: string, ...beside: readonly Child[]): HTMLElement =>
  div('actions', el('button', { type: 'submit', class: 'main' }, words), beside)

export const fieldset = (legend: string, ...content: readonly Child[]): HTMLElement =>
  el('fieldset', {}, el('legend', {}, legend), content)

/** Content that a click on the words shows. */
export const folded = (words: string, ...content: readonly Child[]): HTMLElement =>
  el('details', {}, el('summary', {}, words), content)

/** A figure with its name; `below` says what it means. */
export const tile = (name: string, figure: Child, below: Child = null): HTMLElement =>
  div('tile', el('dt', {}, name), el('dd', {}, el('b', {}, figure), el('span', {}, below)))

export const tiles = (...all: readonly (HTMLElement | null)[]): HTMLElement => el('dl', { class: 'tiles' }, all)

/** Names and values; `wide` ones have a line of their own. */
export const facts = (pairs: readonly (readonly [name: string, value: Child, wide?: 'wide'])[]): HTMLElement =>
  el(
    'dl',
    { class: 'facts' },
    pairs.map(([name, value, wide]) => el('div', { class: wide ?? null }, el('dt', {}, name), el('dd', {}, value))),
  )

const wordsOf = (error: unknown): string =>
  error instanceof Refused ? error.message : 'The console could not read the answer of the gateway'

/** What is wrong with something that the reader gave, announced at once. */
export const warning = (words: string): HTMLElement => el('p', { class: 'refusal', role: 'alert' }, words)

/** A refusal in the gateway's own words, announced at once. */
export const refusal = (error: unknown): HTMLElement =>
  el(
    'div',
    { class: 'refusal', role: 'alert' },
    el('p', {}, `${wordsOf(error)}.`),
    error instanceof Refused && Object.keys(error.fields).length > 0
      ? el(
          'ul',
          {},
          Object.entries(error.fields).map(([name, words]) => el('li', {}, el('code', {}, name), ` ${words}`)),
        )
      : null,
  )

/** Shows in a place why work was refused. */
export const refusedIn =
  (place: HTMLElement) =>
  (error: unknown): void =>
    place.replaceChildren(refusal(error))

/** Copies, or marks the text where the browser lets a page copy nothing. */
const copy = async (source: HTMLElement, told: HTMLElement): Promise<void> => {
  try {
    await navigator.clipboard.writeText(source.textContent)
    told.textContent = 'Copied'
  } catch {
    getSelection()?.selectAllChildren(source)
    told.textContent = 'Marked: copy it with the keyboard'
  }
}

/** Text to take away, with a button. */
export const copied = (text: string, label: string): HTMLElement => {
  const code = el('code', {}, text)
  const told = el('span', { class: 'told', role: 'status' })
  return div(
    'copied',
    el('pre', { tabindex: 0, role: 'region', 'aria-label': label }, code),
    el(
      'div',
      {},
      button('Copy', () => void copy(code, told)),
      told,
    ),
  )
}
