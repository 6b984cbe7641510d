import { library, type Library } from '../../../core/retrieval/library.ts'
import { middleOf, soughtIn } from '../../../core/retrieval/query.ts'
import { readingOf, split } from '../../../core/retrieval/split.ts'
import { corpusOf, type Known, type Plan } from './corpus.ts'
import { overlapOf } from './overlap.ts'

export type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>

/** How a question is put: in the document's words, in others, or in hardly any that stand there. */
export const kinds = ['literal', 'paraphrase', 'oblique'] as const

/** A question whose answer stands in one place. */
export interface Question {
  readonly kind: (typeof kinds)[number]
  readonly query: string
  readonly vector: Float32Array
  readonly fileId: string
  /** The sentence that answers it. */
  readonly told: string
  /** The share of its content words that stand in the passage, or in what it stands under. */
  readonly overlap: number
}

export interface Stage {
  readonly library: Library
  readonly documents: number
  readonly passages: number
  readonly questions: readonly Question[]
}

/** Above it a question is literal, up to it one in other words; what was meant to be the other is left out. */
const mostShared = 0.3

/** A corpus as it is once indexed, and what to ask of it; `size` is that of a passage. */
export const stageOf = async (plan: Plan, embed: Embed, size?: number): Promise<Stage> => {
  const { documents, known } = corpusOf(plan)
  const files = new Map(documents.map(({ id, sections }) => [id, split(sections, size ? { size } : {})]))
  const readings = [...files.values()].flat().map(readingOf)
  const meant = (await embed(readings)).values()
  const shelved = library()
  for (const [id, passages] of files) {
    const placed = passages.map((passage) => ({ passage, vector: meant.next().value! }))
    shelved.put(id, placed)
  }
  const asked = known.flatMap((it) => {
    const passages = files.get(it.fileId)!.filter(({ text }) => text.includes(beginning(it)))
    return kinds.map((kind) => {
      const { [kind]: query, fileId, told } = it
      return {
        kind,
        query,
        fileId,
        told,
        overlap: Math.max(...passages.map((its) => overlapOf(query, readingOf(its)))),
      }
    })
  })
  const fitting = asked.filter(({ kind, overlap }) => overlap > mostShared === (kind === 'literal'))
  const sought = fitting.map(({ query }) => soughtIn(query))
  const vectors = (await embed(sought.flat())).values()
  const questions = fitting.map((question, at) => ({
    ...question,
    vector: middleOf(sought[at]!.map(() => vectors.next().value!))!,
  }))
  return { library: shelved, documents: documents.length, passages: readings.length, questions }
}

/** Enough of a sentence to know it by, where it is longer than a passage. */
const beginning = ({ told }: Known): string => told.slice(0, 60)

export type Way = 'words' | 'meaning' | 'both'

/** The share of questions for which one of the first snippets has the whole answer. */
export const recall = ({ library }: Stage, questions: readonly Question[], way: Way = 'both', most = 5): number => {
  const found = questions.filter(({ query, vector, fileId, told }) =>
    library
      .search({ query: way === 'meaning' ? '' : query, vector: way === 'words' ? null : vector, most })
      .some((hit) => hit.fileId === fileId && plain(hit.snippet).includes(plain(told))),
  )
  return found.length / questions.length
}

const plain = (text: string): string => text.replace(/\s+/g, ' ')
