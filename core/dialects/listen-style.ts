import type { Spoken, Transcript } from '../ports/upstream.ts'

/** A transcript as `metadata` and `results`, whatever backend it came from, so that clients need one reader. */
export const listenStyle = ({ native, text, language, duration, segments, words }: Transcript, model: string) =>
  native ?? {
    metadata: { duration, channels: 1, models: [model] },
    results: {
      channels: [
        {
          ...(language !== null && { detected_language: language }),
          alternatives: [{ transcript: text, words: words.map(wordOf) }],
        },
      ],
      ...(segments.length > 0 && { utterances: segments.map(utteranceOf) }),
    },
  }

const wordOf = ({ text, start, end, speaker, confidence }: Spoken) => ({
  word: text,
  start,
  end,
  ...(confidence !== undefined && { confidence }),
  ...(speaker !== undefined && { speaker }),
})

const utteranceOf = ({ text, ...rest }: Spoken) => ({ ...rest, transcript: text })
