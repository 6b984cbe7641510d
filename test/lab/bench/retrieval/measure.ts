import { searchIndex, type SearchIndex } from '../../../../plugins/sealed/retrieval/search-index.ts'
import { embeddedTextOf, splitSections } from '../../../../plugins/sealed/retrieval/split.ts'
import { corpusOf, type Plan } from './corpus.ts'
import { overlapOf } from './overlap.ts'
import { atOnce } from '../../../../plugins/shared/work-in-turns.ts'

export type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>

/** A question whose answer stands in one place. */
export interface Question {
  readonly query: string
  readonly vector: Float32Array
  readonly fileId: string
  /** The sentence that answers it. */
  readonly told: string
  /** The share of its content words that stand in the passage, or in what it stands under. */
  readonly overlap: number
}

export interface Stage {
  readonly library: SearchIndex
  readonly documents: number
  readonly passages: number
  readonly texts: readonly string[]
  readonly literal: readonly Question[]
  readonly paraphrased: readonly Question[]
}

/** Above it a question is literal, up to it a paraphrase; one that was meant to be the other is left out. */
const mostShared = 0.3

/** A corpus as it is once indexed, and what to ask of it. */
export const stageOf = async (plan: Plan, embed: Embed, size?: number): Promise<Stage> => {
  const { documents, known } = corpusOf(plan)
  const files = documents.map(({ id, sections }) => ({
    id,
    passages: atOnce(splitSections(sections, size || undefined)),
  }))
  const readings = files.map(({ passages }) => passages.map(embeddedTextOf))
  const meant = (await embed(readings.flat())).values()
  const shelved = searchIndex()
  for (const { id, passages } of files) {
    const placed = passages.map((passage) => ({ passage, vector: meant.next().value! }))
    atOnce(shelved.put(id, placed))
  }
  const questions = known.flatMap(({ fileId, told, literal, paraphrase }) => {
    const passages = files.find(({ id }) => id === fileId)!.passages
    // A sentence that is longer than a passage stands in none.
    const homes = passages.filter(({ text }) => text.includes(told.slice(0, 60))).map(embeddedTextOf)
    const asked = (query: string) => ({
      query,
      fileId,
      told,
      overlap: Math.max(...homes.map((home) => overlapOf(query, home))),
    })
    return [
      { ...asked(literal), meant: 'literal' as const },
      { ...asked(paraphrase), meant: 'paraphrased' as const },
    ].filter(({ overlap, meant }) => overlap > mostShared === (meant === 'literal'))
  })
  const vectors = await embed(questions.map(({ query }) => query))
  const ready = questions.map((question, at) => ({ ...question, vector: vectors[at]! }))
  return {
    library: shelved,
    documents: documents.length,
    passages: readings.flat().length,
    texts: readings.flat(),
    literal: ready.filter(({ meant }) => meant === 'literal'),
    paraphrased: ready.filter(({ meant }) => meant === 'paraphrased'),
  }
}

export type Way = 'words' | 'meaning' | 'both'

/** The share of questions for which one of the first snippets has the whole answer. */
export const recall = ({ library }: Stage, questions: readonly Question[], way: Way = 'both', most = 5): number => {
  const found = questions.filter(({ query, vector, fileId, told }) =>
    atOnce(
      library.search({ query: way === 'meaning' ? '' : query, vector: way === 'words' ? null : vector, most }),
    ).some((hit) => hit.fileId === fileId && plain(hit.snippet).includes(plain(told))),
  )
  return found.length / questions.length
}

const plain = (text: string): string => text.replace(/\s+/g, ' ')
