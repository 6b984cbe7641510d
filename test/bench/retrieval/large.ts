import { type Library, library, type Placed } from '../../../core/retrieval/library.ts'
import { chance } from './chance.ts'
import type { Document } from './corpus.ts'

const each = 20

/** Many passages of the sentences of a corpus, so that their words are as common as there, with vectors that mean nothing. */
export const largeOf = (documents: readonly Document[], passages: number): Library => {
  const luck = chance(7)
  const texts = documents.flatMap(({ sections }) => sections.map(({ text }) => text))
  const passage = (): Placed => ({
    passage: {
      text: `${luck.pick(texts)} ${luck.pick(texts)}`.slice(0, 200),
      heading: `Chapter ${luck.below(500)}`,
      page: 1 + luck.below(40),
    },
    vector: Float32Array.from({ length: 512 }, () => luck.below(2001) / 1000 - 1),
  })
  const large = library()
  for (let at = 0; at < passages / each; at++) large.put(`file-${at}`, Array.from({ length: each }, passage))
  return large
}
