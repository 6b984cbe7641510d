import { type Child, el, freshId, div } from './element.ts'
import { button, refusedIn } from './parts.ts'

export interface Question {
  readonly title: string
  readonly words: Child
  readonly yes: string
  /** What is done on yes; its refusal is shown, and the question stays. */
  act(): Promise<void>
}

/** Asks before something that cannot be undone; Escape and the first button do nothing. */
export const ask = ({ title, words, yes, act }: Question): void => {
  const id = freshId('question')
  const told = el('div')
  const close = (): void => dialog.close()
  const closed = (): void => {
    removeEventListener('hashchange', close)
    dialog.remove()
    // The act may have taken away the button that asked.
    if (document.activeElement === document.body) document.querySelector('h1')?.focus()
  }
  const done = (): Promise<void> => act().then(close, refusedIn(told))
  const dialog: HTMLDialogElement = el(
    'dialog',
    { 'aria-labelledby': id, on: { close: closed } },
    el('h2', { id }, title),
    el('div', {}, words),
    told,
    div('actions', button('Cancel', close), button(yes, done, 'danger')),
  )
  // The question is about the page below.
  addEventListener('hashchange', close)
  document.body.append(dialog)
  dialog.showModal()
}
