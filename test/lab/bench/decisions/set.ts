import { readFile } from 'node:fs/promises'

/** A question as callers send it. */
export type Asked =
  | {
      readonly type: 'choice'
      readonly instructions: string
      readonly criteria: Readonly<Record<string, string | null>>
    }
  | {
      readonly type: 'noul'
      readonly instructions: string
      readonly criteria?: { readonly true: string; readonly false: string }
    }
  | { readonly type: 'score'; readonly instructions: string; readonly criteria: readonly string[] }

export interface Item {
  readonly id: string
  /** No question stands in both parts: what was fitted on one is measured on questions it never saw. */
  readonly part: 'fit' | 'measure'
  readonly state: unknown
  readonly question: Asked
  readonly answer: string | boolean | number
}

/** Run from the root of the package. */
export const itemsOf = async (part: Item['part']): Promise<readonly Item[]> =>
  (JSON.parse(await readFile('test/lab/bench/decisions/set.json', 'utf8')) as Item[]).filter(
    (item) => item.part === part,
  )

/** The answers in the order shown; for noul first yes, then no. */
export const labelsOf = ({ type, criteria }: Asked): readonly string[] =>
  type === 'choice' ? Object.keys(criteria) : type === 'score' ? criteria.map((_, level) => `${level}`) : ['yes', 'no']

/** The place of the right answer among the labels. */
export const truthOf = ({ question, answer }: Item): number =>
  typeof answer === 'boolean' ? (answer ? 0 : 1) : labelsOf(question).indexOf(`${answer}`)

/** The same question with its labels the other way round. */
export const reversed = (question: Asked): Asked => {
  if (question.type === 'noul') return question
  return question.type === 'score'
    ? { ...question, criteria: question.criteria.toReversed() }
    : { ...question, criteria: Object.fromEntries(Object.entries(question.criteria).reverse()) }
}
