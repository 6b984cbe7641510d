import { amongFive, mean, pairedInterval } from './judge.ts'
import { type Engine, type Measured, engines } from './stage.ts'

/** Lines that say how each engine did, and how far ours is ahead of the others. */
export function* reported({ ranks, ...about }: Measured): Generator<string> {
  const { documents, passages, characters, wordSeconds, vectorSeconds } = about
  yield `${documents} documents in ${passages} passages, ${(characters / 1e6).toFixed(1)} M characters; ${ranks.lunr.length} questions`
  yield `CPU to index: words ${wordSeconds.toFixed(1)} s, vectors ${vectorSeconds.toFixed(1)} s`
  for (const engine of engines) {
    const found = ranks[engine]
    yield `${engine.padEnd(18)} MRR ${mean(found).toFixed(3)}  answer@5 ${mean(amongFive(found)).toFixed(3)}`
  }
  for (const ours of ['words', 'words and vectors'] as const) {
    for (const theirs of ['lunr', 'minisearch', 'vectors alone'] as const satisfies readonly Engine[]) {
      yield `${ours} - ${theirs}: MRR ${interval(ranks[ours], ranks[theirs])}, answer@5 ${interval(amongFive(ranks[ours]), amongFive(ranks[theirs]))}`
    }
  }
  yield `words and vectors - words: MRR ${interval(ranks['words and vectors'], ranks.words)}`
}

const interval = (ours: readonly number[], theirs: readonly number[]): string => {
  const { difference, low, high } = pairedInterval(ours, theirs)
  return `${signed(difference)} (${signed(low)} to ${signed(high)})`
}

const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(3)}`
