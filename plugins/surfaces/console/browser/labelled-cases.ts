import { rowsOf } from './csv.ts'
import { type DraftQuestion, labelsOf } from './decision-draft.ts'

/** A state whose right answer is known. */
export interface LabelledCase {
  readonly state: string
  /** The place of the right answer among the question's options; yes is 0 and no is 1. */
  readonly truth: number
}

/** Of a file. */
export const mostBytes = 4 * 1024 * 1024
export const mostCases = 2_000

/** Why a file gives no cases. Its words are constant but for the number of a row. */
export class UnreadCases extends Error {}

const outcomes: Readonly<Record<string, number>> = { yes: 0, true: 0, '1': 0, no: 1, false: 1, '0': 1 }

/** Below 0 for what is no answer to the question. A level is known by its number or its words. */
const placeOf = (question: DraftQuestion, answer: string): number => {
  if (question.type === 'noul') {
    const word = answer.toLowerCase()
    return Object.hasOwn(outcomes, word) ? (outcomes[word] ?? -1) : -1
  }
  const place = labelsOf(question).indexOf(answer)
  if (place >= 0 || question.type === 'choice') return place
  return question.options.findIndex(({ meaning }) => meaning !== '' && meaning === answer)
}

/** Cases of a CSV whose first row names `state` and `answer`, each case once. Throws UnreadCases. */
export const casesOf = (text: string, question: DraftQuestion): readonly LabelledCase[] => {
  const [head = [], ...rows] = rowsOf(text) ?? []
  const names = head.map((name) => name.trim().toLowerCase())
  const [states, answers] = [names.indexOf('state'), names.indexOf('answer')]
  if (states < 0 || answers < 0)
    throw new UnreadCases('The file is no CSV whose first row names the columns state and answer.')
  // A case that stood in both halves would be tested on what it was fitted to.
  const cases = new Map<string, LabelledCase>()
  for (const [at, row] of rows.entries()) {
    const [state, answer] = [row[states] ?? '', (row[answers] ?? '').trim()]
    const truth = placeOf(question, answer)
    if (truth < 0) throw new UnreadCases(`Row ${at + 2} has no answer to this question.`)
    cases.set(JSON.stringify([state, answer]), { state, truth })
  }
  if (cases.size === 0) throw new UnreadCases('The file has no cases.')
  if (cases.size > mostCases) throw new UnreadCases(`The file has more than ${mostCases} cases.`)
  return [...cases.values()]
}
