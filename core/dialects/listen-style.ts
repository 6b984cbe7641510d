import type { Spoken, Transcript } from '../ports/upstream.ts'
import type { JsonObject } from './json-object.ts'

/** What `metadata` tells beside the answer. */
export interface TranscriptExtras {
  /** Options of the call that had no effect. */
  readonly ignored?: readonly string[]
  /** Present when the gateway, and not the backend, found the speakers. */
  readonly diarization?: 'local'
}

/** A transcript as `metadata` and `results`, whatever backend it came from, so that clients need one reader. */
export const listenStyle = (it: Transcript, model: string, aside: TranscriptExtras = {}): JsonObject => {
  const { native, duration } = it
  if (native === undefined) {
    return { metadata: { duration, channels: 1, models: [model], ...aside }, results: resultsOf(it) }
  }
  if (Object.keys(aside).length === 0) return native
  return { ...native, metadata: { ...(native['metadata'] as JsonObject | undefined), ...aside } }
}

const resultsOf = ({ text, language, segments, words }: Transcript): JsonObject => ({
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
