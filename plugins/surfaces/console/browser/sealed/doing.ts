import { SealgateError } from '../../../../sealed/client/error.ts'
import { el, div } from '../element.ts'
import { Refused } from '../gateway.ts'
import { stack, warning } from '../parts.ts'

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

/** Does a piece of work. A fault appears above the button. */
export const doing = (
  signal: AbortSignal,
): { readonly told: HTMLElement; run(work: () => Promise<void>): Promise<void> } => {
  const told = stack()
  return {
    told,
    async run(work) {
      told.replaceChildren()
      await work().catch((error: unknown) => {
        if (!signal.aborted) told.replaceChildren(warning(`${wordsOf(error)}.`))
      })
    },
  }
}

export const labelled = (words: string, id: string, input: HTMLElement): HTMLElement =>
  div('field', el('label', { for: id }, words), input)
