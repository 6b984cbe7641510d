import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A question that one sentence of one document answers. */
export interface WildQuestion {
  readonly file: string
  /** How the sentence begins. */
  readonly answer: string
  readonly query: string
}

/** All were written from sentences drawn by chance, before any search. */
const locked = '5ece65fe1adcd785bd1af296854921624943bf46accd1be437f418f1b3339268'

/** Half 0 is for tuning. Half 1 is measured as a whole: nobody looks at its questions by themselves. Throws where a question was changed. */
export const wildQuestions = (half: 0 | 1): readonly WildQuestion[] => {
  const written = readFileSync('test/lab/bench/retrieval/wild/questions.tsv')
  if (createHash('sha256').update(written).digest('hex') !== locked) throw new Error('The questions are locked')
  const rows = written.toString().trim().split('\n')
  return rows
    .filter((_, at) => at % 2 === half)
    .map((row) => {
      const [file, answer, query] = row.split('\t') as [string, string, string]
      return { file, answer, query }
    })
}
