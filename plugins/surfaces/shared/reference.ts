import type { Sentences } from '../../../core/ports/chapter.ts'

/** The header of answers that count tokens. */
export const estimated = { 'x-sealgate-estimated': 'The word `true`: the count is an estimate.' }

/** Words on the errors of every public dialect. */
export const faultWords: Sentences = {
  'fault.error': 'The error.',
  'error.message': 'The error as a sentence.',
  'error.code': 'The code of the error, or its status in the Gemini dialect.',
}
