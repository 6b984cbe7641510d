import type { Spoken, Transcript } from '../ports/upstream.ts'

/** What `metadata` tells beside the answer. */
export interface Aside {
  /** Options of the call that had no effect. */
  readonly ignored?: readonly string[]
  /** The speakers were told apart by the one who asked the backend. */
  readonly diarization?: 'local'
}

type Fields = Readonly<Record<string, unknown>>

/** A transcript as `metadata` and `results`, whatever backend it came from, so that clients need one reader. */
export const listenStyle = (it: Transcript, model: string, aside: Aside = {}): Fields => {
  const { native, duration } = it
  if (native === undefined) {
    return { metadata: { duration, channels: 1, models: [model], ...aside }, results: resultsOf(it) }
  }
  if (Object.keys(aside).length === 0) return native
  return { ...native, metadata: { ...(native['metadata'] as Fields | undefined), ...aside } }
}

const resultsOf = ({ text, language, segments, words }: Transcript): Fields => ({
  channels: [
    {
      ...(language !== null && { detected_language: language }),
      alternatives: [{ transcript: text, words: words.map(wordOf) }],
    },
  ],
  ...(segments.length > 0 && { utterances: segments.map(utteranceOf) }),
})

const wordOf = ({ text, start, end, speaker, confidence }: Spoken) => ({
  word: text,
  start,
  end,
  ...(confidence !== undefined && { confidence }),
  ...(speaker !== undefined && { speaker }),
})

const utteranceOf = ({ text, ...rest }: Spoken) => ({ ...rest, transcript: text })
