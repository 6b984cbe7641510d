import { chance } from '../chance.ts'
import type { WildQuestion } from './questions.ts'

/** What an engine shows for a question, the best first. */
export type Shown = readonly { readonly file: string; readonly text: string }[]

/** For each question the reciprocal of the place at which its answer is shown, 0 where none of the first ten has it. */
export const reciprocalRanks = (questions: readonly WildQuestion[], ask: (at: number) => Shown): readonly number[] =>
  questions.map(({ file, answer }, at) => {
    const place = ask(at).findIndex((passage) => passage.file === file && plain(passage.text).includes(plain(answer)))
    return place < 0 ? 0 : 1 / (place + 1)
  })

export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** For each question whether its answer is among the first five. */
export const amongFive = (ranks: readonly number[]): readonly number[] => ranks.map((rank) => (rank >= 0.2 ? 1 : 0))

const draws = 10_000

/** The difference of two means over the same questions, and its 95 % interval by drawing questions anew. */
export const pairedInterval = (ours: readonly number[], theirs: readonly number[]) => {
  const differences = ours.map((our, at) => our - theirs[at]!)
  const luck = chance(7)
  const means = Array.from({ length: draws }, () => mean(differences.map(() => luck.pick(differences))))
  means.sort((one, other) => one - other)
  return { difference: mean(differences), low: means[draws * 0.025]!, high: means[draws * 0.975]! }
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()
