import { searchIndex } from '../../../../../plugins/sealed/retrieval/search-index.ts'
import { embeddedTextOf, splitSections } from '../../../../../plugins/sealed/retrieval/split.ts'
import type { Embed } from '../measure.ts'
import { wildDocuments } from './fetched.ts'
import { type Shown, reciprocalRanks } from './judge.ts'
import { peersOf } from './peers.ts'
import type { WildQuestion } from './questions.ts'
import { atOnce } from '../../../../../plugins/shared/work-in-turns.ts'

export interface Measured {
  readonly documents: number
  readonly passages: number
  /** Seconds of CPU that words, and vectors, take to be indexed. */
  readonly wordSeconds: number
  readonly vectorSeconds: number
  /** Characters of all passages. */
  readonly characters: number
  /** By engine the reciprocal rank of each question's answer. */
  readonly ranks: Readonly<Record<Engine, readonly number[]>>
}

export const engines = ['words', 'words and vectors', 'vectors alone', 'lunr', 'minisearch'] as const
export type Engine = (typeof engines)[number]

const most = 10

/** All engines get the same passages; ours are judged by the snippets that they show. */
export const measured = async (questions: readonly WildQuestion[], embed: Embed): Promise<Measured> => {
  const documents = await wildDocuments()
  const files = documents.map(({ id, sections }) => ({
    id,
    title: titleOf(id),
    passages: atOnce(splitSections(sections)),
  }))
  const rows = files.flatMap(({ id, title, passages }) => passages.map((passage) => ({ id, title, passage })))
  const given = rows.map(({ title, passage }) => ({ heading: `${title} ${passage.heading ?? ''}`, text: passage.text }))
  const begun = process.cpuUsage()
  const vectors = await embed(rows.map(({ passage }) => embeddedTextOf(passage)))
  const vectorSeconds = seconds(begun)
  const queries = await embed(questions.map(({ query }) => query))
  const begunWords = process.cpuUsage()
  const searched = searchIndex()
  let row = 0
  for (const { id, title, passages } of files) {
    const placed = passages.map((passage) => ({ passage, vector: vectors[row++]! }))
    atOnce(searched.put(id, placed, { title }))
  }
  const wordSeconds = seconds(begunWords)
  const peers = peersOf(given)
  const ours = (query: string, vector: Float32Array | null): Shown =>
    atOnce(searched.search({ query, vector, most })).map(({ fileId, snippet }) => ({ file: fileId, text: snippet }))
  const theirs = (places: readonly number[]): Shown =>
    places.map((place) => ({ file: rows[place]!.id, text: rows[place]!.passage.text }))
  const ask: Readonly<Record<Engine, (at: number) => Shown>> = {
    words: (at) => ours(questions[at]!.query, null),
    'words and vectors': (at) => ours(questions[at]!.query, queries[at]!),
    'vectors alone': (at) => ours('', queries[at]!),
    lunr: (at) => theirs(peers.lunr(questions[at]!.query, most)),
    minisearch: (at) => theirs(peers.minisearch(questions[at]!.query, most)),
  }
  const ranks = Object.fromEntries(engines.map((engine) => [engine, reciprocalRanks(questions, ask[engine])]))
  return {
    documents: documents.length,
    passages: rows.length,
    wordSeconds,
    vectorSeconds,
    characters: rows.reduce((sum, { passage }) => sum + passage.text.length, 0),
    ranks: ranks as Record<Engine, readonly number[]>,
  }
}

const titleOf = (id: string): string => id.replace(/[^\p{L}\p{N}]+/gu, ' ')

const seconds = (begun: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1_000_000
}
