import { type Child, el } from './element.ts'
import { Refused } from './gateway.ts'
import { button, refusal } from './parts.ts'

interface Versioned {
  readonly version: number
}

/** How a thing of the gateway's store is changed. */
export interface Changing<T extends Versioned, C> {
  readonly now: T
  /** Its kind, such as `key`. */
  readonly what: string
  inputs(now: T): readonly Child[]
  changeOf(form: HTMLFormElement, now: T): C
  /** The change that takes a change back. */
  earlier(now: T): C
  /** Throws Refused with 409 where the thing has another version. */
  send(change: C & Versioned, before: T): Promise<T>
  draw(now: T): void
  /** Reads the page again. */
  again(): void
}

/** A form that changes a thing. One click takes the change back, and what another operator changed is not written over. */
export const changeForm = <T extends Versioned, C>(changing: Changing<T, C>): HTMLElement => {
  const { what } = changing
  const told = el('div')
  let current = changing.now
  const refused = (error: unknown): readonly Child[] => [
    refusal(error),
    error instanceof Refused &&
      error.status === 409 && [
        el('p', {}, `Another operator changed this ${what}. Your change is not written. `),
        el(
          'div',
          { class: 'actions' },
          button('Read the new state', () => changing.again()),
        ),
      ],
  ]
  const send = async (change: C, words: string, undo: C | null): Promise<void> => {
    try {
      current = await changing.send({ ...change, version: current.version }, current)
      changing.draw(current)
      told.replaceChildren(
        el(
          'p',
          { class: 'fine', role: 'status' },
          words,
          undo !== null && [' ', button('Undo', () => void send(undo, 'The change is undone.', null), 'quiet')],
        ),
      )
    } catch (error) {
      told.replaceChildren(el('div', { class: 'stack' }, refused(error)))
    }
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    void send(
      changing.changeOf(form, current),
      `The ${what} is changed. Every process takes the change within five seconds.`,
      changing.earlier(current),
    )
  }
  const save = el('div', { class: 'actions' }, el('button', { type: 'submit', class: 'main' }, 'Save'))
  const form = el('form', { on: { submit } }, changing.inputs(current), save)
  return el('section', { class: 'card' }, told, el('details', {}, el('summary', {}, `Change this ${what}`), form))
}
