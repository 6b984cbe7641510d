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
  const done = (): Promise<void> => act().then(() => dialog.close(), refusedIn(told))
  const dialog: HTMLDialogElement = el(
    'dialog',
    { 'aria-labelledby': id, on: { close: () => dialog.remove() } },
    el('h2', { id }, title),
    el('div', {}, words),
    told,
    div(
      'actions',
      button('Cancel', () => dialog.close()),
      button(yes, done, 'danger'),
    ),
  )
  document.body.append(dialog)
  dialog.showModal()
}
