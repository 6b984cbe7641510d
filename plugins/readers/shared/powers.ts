import type { DocumentWriter } from './document-writing.ts'

/** Whether a superscript would make another number of the one before it: 10⁶ is no 106. */
export const isPower = (before: string, superscript: string): boolean =>
  /\d$/.test(before) && /^(\d|[-−+](\d|$))/.test(superscript)

/** The texts of runs. A superscript makes no other number of what stands before it. */
export const runTexts = (writing: DocumentWriter) => {
  let before = ''
  let raised = false
  let goesOn = false
  return {
    paragraph: () => void (before = ''),
    begin: () => void (raised = false),
    raise: (isRaised: boolean) => void (raised = isRaised),
    say(text: string) {
      writing.say(raised && !goesOn && isPower(before, text) ? `^${text}` : text)
      before = text
      goesOn = raised
    },
  }
}
