import { SealgateError } from '../../../../sealed/client/error.ts'
import { el, div } from '../element.ts'
import { Refused } from '../gateway.ts'
import { stack, form } from '../parts.ts'

/** Shows on the right what is done on the left. */
export interface Witness {
  begins(question: string): void
  ends(answered: string): void
}

const wordsOf = (error: unknown): string => {
  if (error instanceof SealgateError)
    return [error.message, error.told].filter((sentence) => sentence !== null).join(': ')
  if (error instanceof Refused || error instanceof RefusedHere) return error.message
  return 'It broke off'
}

/** What this page refuses before anything is sent. */
export class RefusedHere extends Error {}

/** Does one piece of work at a time. A fault appears above the button. */
export const doing = (
  submit: HTMLButtonElement,
  signal: AbortSignal,
): { readonly told: HTMLElement; run(work: () => Promise<void>): void } => {
  const told = stack()
  const run = async (work: () => Promise<void>): Promise<void> => {
    submit.disabled = true
    told.replaceChildren()
    try {
      await work()
    } catch (error) {
      if (!signal.aborted) told.replaceChildren(el('p', { class: 'refusal', role: 'alert' }, `${wordsOf(error)}.`))
    }
    submit.disabled = false
  }
  return { told, run: (work) => void run(work) }
}

/** A form whose button does the work. */
export const workForm = (
  submit: HTMLButtonElement,
  begin: () => void,
  ...content: readonly (Node | string)[]
): HTMLElement =>
  form(() => {
    if (!submit.disabled) begin()
  }, content)

export const labelled = (words: string, id: string, input: HTMLElement): HTMLElement =>
  div('field', el('label', { for: id }, words), input)
